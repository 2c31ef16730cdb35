// SPDX-License-Identifier: GPL-3.0-or-later
extern "C" void trainwrightWaitPolicyChain2();
extern "C" void trainwrightWaitPolicyChain1()
{
    trainwrightWaitPolicyChain2();
}
