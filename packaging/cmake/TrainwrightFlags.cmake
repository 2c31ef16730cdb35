# One interface target with the strict flags; only our own targets link it.
add_library(trainwright_flags INTERFACE)
target_compile_options(trainwright_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    $<$<BOOL:${TRAINWRIGHT_WERROR}>:-Werror>)
target_compile_definitions(trainwright_flags INTERFACE
    QT_NO_KEYWORDS QT_NO_CAST_TO_ASCII QT_DISABLE_DEPRECATED_BEFORE=0x060400
    TRAINWRIGHT_VERSION="${PROJECT_VERSION}")
if(TRAINWRIGHT_SANITIZE)
    target_compile_options(trainwright_flags INTERFACE -fsanitize=${TRAINWRIGHT_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(trainwright_flags INTERFACE -fsanitize=${TRAINWRIGHT_SANITIZE})
endif()
# -Wconversion everywhere but where torch and OpenCV templates make it useless.
add_library(trainwright_strict_flags INTERFACE)
target_link_libraries(trainwright_strict_flags INTERFACE trainwright_flags)
target_compile_options(trainwright_strict_flags INTERFACE -Wconversion)
