"""Reads traces of `torch.profiler` (Kineto).

Terms of the modules in this package:

- A host event is an operator, a region, a module or a function of Python.
- A driver call is a call of the driver or the runtime of a device, such as `cudaLaunchKernel`.
- Work, or work on a device, is a kernel, a copy or a memset.
- The parent of a host event is the innermost host event around it.
"""
