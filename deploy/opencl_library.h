// The OpenCL loader, opened at run time: a program that only wants CUDA, or only looks configs up, needs none.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace redtune::deploy {

/// The functions used, by their names without "cl".
struct OpenClFunctions {
  decltype(&clGetPlatformIDs) GetPlatformIDs;
  decltype(&clGetPlatformInfo) GetPlatformInfo;
  decltype(&clGetDeviceIDs) GetDeviceIDs;
  decltype(&clGetDeviceInfo) GetDeviceInfo;
  decltype(&clCreateContext) CreateContext;
  decltype(&clReleaseContext) ReleaseContext;
  decltype(&clRetainContext) RetainContext;
  decltype(&clCreateCommandQueue) CreateCommandQueue;
  decltype(&clRetainCommandQueue) RetainCommandQueue;
  decltype(&clReleaseCommandQueue) ReleaseCommandQueue;
  decltype(&clGetCommandQueueInfo) GetCommandQueueInfo;
  decltype(&clCreateBuffer) CreateBuffer;
  decltype(&clGetMemObjectInfo) GetMemObjectInfo;
  decltype(&clReleaseMemObject) ReleaseMemObject;
  decltype(&clCreateProgramWithSource) CreateProgramWithSource;
  decltype(&clCreateProgramWithBinary) CreateProgramWithBinary;
  decltype(&clBuildProgram) BuildProgram;
  decltype(&clGetProgramInfo) GetProgramInfo;
  decltype(&clGetProgramBuildInfo) GetProgramBuildInfo;
  decltype(&clReleaseProgram) ReleaseProgram;
  decltype(&clCreateKernel) CreateKernel;
  decltype(&clGetKernelWorkGroupInfo) GetKernelWorkGroupInfo;
  decltype(&clSetKernelArg) SetKernelArg;
  decltype(&clReleaseKernel) ReleaseKernel;
  decltype(&clEnqueueNDRangeKernel) EnqueueNDRangeKernel;
  decltype(&clEnqueueFillBuffer) EnqueueFillBuffer;
  decltype(&clEnqueueReadBuffer) EnqueueReadBuffer;
  decltype(&clEnqueueMarkerWithWaitList) EnqueueMarkerWithWaitList;
  decltype(&clRetainEvent) RetainEvent;
  decltype(&clReleaseEvent) ReleaseEvent;
  decltype(&clWaitForEvents) WaitForEvents;
  decltype(&clFinish) Finish;
};

/// The one of this process, opened on first use and never closed. Throws Failure (REDTUNE_NO_DEVICE) with the remedy.
const OpenClFunctions& opencl();

/// "CL_OUT_OF_RESOURCES (-5)".
std::string opencl_error_text(cl_int code);

}  // namespace redtune::deploy
