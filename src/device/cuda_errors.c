/* Errors of the CUDA runtime as statuses with a sentence. */

#include "device/cuda.h"

/* After these, every call of the process that touches the device fails with the same error. */
static bool is_final(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
        return true;
    default:
        return false;
    }
}

static kith_status status_of(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return KITH_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
        return KITH_NO_DEVICE;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNotSupported:
        return KITH_UNSUPPORTED;
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureWrongThread:
    case cudaErrorInvalidResourceHandle:
        return KITH_INVALID_ARGUMENT;
    default:
        return KITH_INTERNAL_ERROR;
    }
}

static const char *remedy_for(kith_status status, cudaError_t error)
{
    if (is_final(error))
        return "; this process can no longer use the device: start it again";
    switch (status) {
    case KITH_OUT_OF_MEMORY:
        return "; free memory of the device or use fewer bodies";
    case KITH_NO_DEVICE:
        return "; run nvidia-smi to see the driver's state, or compute on the CPU";
    case KITH_UNSUPPORTED:
        return "; kith info lists the devices, and the build option KITH_CUDA_ARCHITECTURES says "
               "for which ones there is code";
    case KITH_INVALID_ARGUMENT:
        return "; check what else the program does with the stream";
    default:
        return "";
    }
}

kith_status cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return KITH_OK;
    cudaGetLastError(); /* forgets the error, if it can be forgotten */
    const kith_status status = status_of(error);
    return kith_fail(status, "%s: %s (CUDA error %d)%s", what, cudaGetErrorString(error),
                     (int)error, remedy_for(status, error));
}
