// SPDX-License-Identifier: GPL-3.0-or-later
extern "C" void trainwrightWaitPolicy();
extern "C" void trainwrightWaitPolicyChain2()
{
    trainwrightWaitPolicy();
}
