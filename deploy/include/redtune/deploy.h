/* redtune::deploy: what a program needs to run tuned reductions. C99; deploy.hpp wraps it for C++.
 *
 * A store is the directory that `redtune tune` writes (or `redtune export` packs): configs with their kernels. Load it
 * once, ask for an operator, get a kernel for a device, launch it on your own queue or stream any number of times.
 *
 * Errors are values: every function that can fail returns a status, and redtune_error() then tells file, field and
 * remedy. Nothing is printed, no exception leaves the library, no signal or environment is touched.
 * Threads: a store and an operator may be used by any number of threads at once; so may a kernel, also on one queue.
 * Handles are released by their own function; 0 may be released. A kernel outlives the store that it came from. */
#ifndef REDTUNE_DEPLOY_H
#define REDTUNE_DEPLOY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define REDTUNE_API
#else
#define REDTUNE_API __attribute__((visibility("default")))
#endif

typedef enum redtune_status {
  REDTUNE_OK = 0,
  REDTUNE_BAD_INPUT = 1,     /* an argument, an operator, a file: the message says which */
  REDTUNE_NOT_FOUND = 2,     /* the store holds nothing of the grade that was asked for */
  REDTUNE_NO_DEVICE = 3,     /* no driver, no device, or a library that is missing */
  REDTUNE_BUILD_FAILED = 4,  /* the kernel does not compile or load on this device */
  REDTUNE_LAUNCH_FAILED = 5, /* the driver refused a launch; the kernel stays usable */
  REDTUNE_OUT_OF_MEMORY = 6,
  REDTUNE_INTERNAL = 7 /* a bug in redtune */
} redtune_status;

/* From best to worst. A kernel of any grade computes what was asked: a config of other sizes gives no kernel. */
typedef enum redtune_grade {
  REDTUNE_EXACT = 0,        /* tuned for this function on this device, or on another board of its model */
  REDTUNE_IN_RANGE = 1,     /* no kernel: the sizes lie in the measured range of a portfolio's schedule, on this device */
  REDTUNE_NEAREST = 2,      /* tuned on this device for other sizes or another determinism */
  REDTUNE_OTHER_DEVICE = 3, /* tuned on another device */
  REDTUNE_DEFAULT = 4       /* nothing tuned fits */
} redtune_grade;

typedef struct redtune_store redtune_store;
typedef struct redtune_operator redtune_operator;
typedef struct redtune_kernel redtune_kernel;
typedef struct redtune_host redtune_host;

/* What was found and how good it is. Texts belong to the caller's struct; long ones are cut. */
typedef struct redtune_answer {
  redtune_grade grade;
  int has_kernel;         /* 1: the config computes exactly what was asked and has a kernel text */
  double seconds;         /* as measured for the config's own sizes and device: median; 0 for REDTUNE_DEFAULT */
  double low_seconds;     /* 95 % interval of the median */
  double high_seconds;
  double default_seconds; /* of the default schedule, in the same run; 0: it gave no time */
  double distance;        /* between the sizes, in doublings; 0: equal. In range: from the nearest measured shape */
  double regret;          /* measured share of time lost, in range at that shape; NaN: not measured */
  size_t regret_samples;  /* behind a median of measured regrets */
  double worst_regret;    /* in range: the most over all shapes that the schedule serves; else NaN */
  int run_to_run;         /* 1: the same bits in every run */
  char schedule[256];
  char device[256];       /* where it was measured */
  char key[256];          /* of the operator that was tuned */
  char note[256];         /* in what the answer differs from the question; "" when it does not */
} redtune_answer;

/* "0.1.0" */
REDTUNE_API const char* redtune_version(void);
/* Why the last failed call of this thread failed; "" before any. Valid until the thread's next failure. */
REDTUNE_API const char* redtune_error(void);

/* ---- store ---- */

/* Loads every config below `directory`. A file that cannot be used is left out, see redtune_store_problems. */
REDTUNE_API redtune_status redtune_store_open(const char* directory, redtune_store** store);
REDTUNE_API void redtune_store_close(redtune_store* store);
REDTUNE_API size_t redtune_store_size(const redtune_store* store);
/* One line per file that was left out, "" when all were read. Belongs to the store. */
REDTUNE_API const char* redtune_store_problems(const redtune_store* store);

/* ---- operator ---- */

/* `json` as in operator files: {"op": "sum", "shape": [1024, 1024], "axes": [1], "dtype": "f32"}. */
REDTUNE_API redtune_status redtune_operator_parse(const char* json, redtune_operator** op);
REDTUNE_API void redtune_operator_free(redtune_operator* op);
REDTUNE_API const char* redtune_operator_key(const redtune_operator* op);
/* Bytes that the input must have at least (what shape, strides and offset walk over), and those of the output. */
REDTUNE_API size_t redtune_operator_input_bytes(const redtune_operator* op);
REDTUNE_API size_t redtune_operator_output_bytes(const redtune_operator* op);
/* Element type by its word in operator files: "f32". */
REDTUNE_API const char* redtune_operator_output_dtype(const redtune_operator* op);
/* Writes up to `capacity` sizes and returns how many the output has. */
REDTUNE_API size_t redtune_operator_output_shape(const redtune_operator* op, int64_t* shape, size_t capacity);

/* ---- lookup, without a device ---- */

/* `device`: the full name, as configs have it. `lowest`: grades below it are REDTUNE_NOT_FOUND. Every grade is
 * considered, also configs without a kernel for this operator (has_kernel 0): their schedule tells what to tune, or, in
 * range, what `redtune run` may generate as it is. */
REDTUNE_API redtune_status redtune_find(const redtune_store* store, const redtune_operator* op, const char* device,
                                        redtune_grade lowest, redtune_answer* answer);

/* ---- kernels ---- */

REDTUNE_API void redtune_kernel_release(redtune_kernel* kernel);
/* The answer that the kernel was made from. */
REDTUNE_API redtune_status redtune_kernel_answer(const redtune_kernel* kernel, redtune_answer* answer);
/* 1: its binary came from the cache or the store and nothing was compiled. */
REDTUNE_API int redtune_kernel_was_cached(const redtune_kernel* kernel);

/* `lowest`: REDTUNE_EXACT to take nothing that was not tuned for exactly this; REDTUNE_OTHER_DEVICE to take also what
 * was tuned under another determinism or on another device. `cache_directory`: where compiled kernels are kept, shared
 * safely by processes; 0: the user's (~/.cache/redtune); "": none. */

struct _cl_context;
struct _cl_device_id;
struct _cl_command_queue;
struct _cl_mem;
struct _cl_event;

/* The name that configs have for an OpenCL device. */
REDTUNE_API redtune_status redtune_opencl_device_name(struct _cl_device_id* device, char* name, size_t capacity);

/* Compiles or loads the kernel for one device of a context. Costs a file read, or a compilation. */
REDTUNE_API redtune_status redtune_opencl_kernel(const redtune_store* store, const redtune_operator* op,
                                                 struct _cl_context* context, struct _cl_device_id* device,
                                                 redtune_grade lowest, const char* cache_directory,
                                                 redtune_kernel** kernel);

/* Enqueues one repetition: everything that the output needs, initialisation included; the input is only read. Returns
 * as soon as it is enqueued. Waits for `wait` (count, may be 0); `done` (may be 0) is the caller's to release. The first
 * launch on a queue allocates the workspace of that queue, kept until the kernel is released; at most so many queues
 * use a kernel at a time. Out-of-order queues are fine. Checks sizes, context and aliasing before anything runs. */
REDTUNE_API redtune_status redtune_opencl_launch(redtune_kernel* kernel, struct _cl_command_queue* queue,
                                                 struct _cl_mem* input, struct _cl_mem* output, uint32_t wait_count,
                                                 struct _cl_event* const* wait, struct _cl_event** done);

struct CUstream_st;

/* For the device of the current CUDA context: an image in the store that fits it, else NVRTC. Untested on hardware. */
REDTUNE_API redtune_status redtune_cuda_kernel(const redtune_store* store, const redtune_operator* op,
                                               redtune_grade lowest, const char* cache_directory,
                                               redtune_kernel** kernel);
/* As redtune_opencl_launch; device addresses. The kernel's context must be current. A stream that is destroyed must
 * have finished: the workspace belongs to the handle. The input must be aligned to 16 bytes. */
REDTUNE_API redtune_status redtune_cuda_launch(redtune_kernel* kernel, struct CUstream_st* stream,
                                               uint64_t input, uint64_t output);

/* ---- arrays in memory, on an OpenCL device that the library opens ---- */

/* `device`: as `redtune devices` names it ("cpu", "opencl:1"); 0: the first. */
REDTUNE_API redtune_status redtune_host_open(const char* device, redtune_host** host);
REDTUNE_API void redtune_host_close(redtune_host* host);
REDTUNE_API const char* redtune_host_device(const redtune_host* host);
/* Computes and waits. Kernels are kept per operator. `answer` may be 0. */
REDTUNE_API redtune_status redtune_host_run(redtune_host* host, const redtune_store* store,
                                            const redtune_operator* op, redtune_grade lowest, const void* input,
                                            size_t input_bytes, void* output, size_t output_bytes,
                                            redtune_answer* answer);

#ifdef __cplusplus
}
#endif
#endif
