// What NVRTC defines before it reads a source. The preprocessor alone sees this file, with none of its
// own compiler's macros; CUDA's words, such as __global__, it leaves as they are.
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 13000
#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1
#define __CUDA_ARCH__ 750
#define __CUDA_ARCH_LIST__ 750
#define __LP64__ 1
#define __EDG__ 1
#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1
// CuPy asks for --ftz=true; other options for speed are not looked at.
#define __CUDA_FTZ 1
#define __CUDA_PREC_DIV 1
#define __CUDA_PREC_SQRT 1
#define __USE_FAST_MATH__ 0
#define NULL 0
// Words of CUDA's that are macros there: `#ifndef __launch_bounds__` passes over what is behind it.
#define __device__ __device__
#define __global__ __global__
#define __host__ __host__
#define __shared__ __shared__
#define __constant__ __constant__
#define __managed__ __managed__
#define __grid_constant__ __grid_constant__
#define __launch_bounds__ __launch_bounds__
#define __forceinline__ __forceinline__
#define __noinline__ __noinline__
#define __align__ __align__
#undef __COUNTER__
#undef __TIMESTAMP__
#define assert(...) standin_assert((__VA_ARGS__), #__VA_ARGS__, __LINE__)
// What of the language there is, by standard.
#define __cpp_rtti 199711L
#if __cplusplus >= 201103
#define __cpp_alias_templates 200704L
#define __cpp_attributes 200809L
#define __cpp_constexpr 200704L
#define __cpp_decltype 200707L
#define __cpp_delegating_constructors 200604L
#define __cpp_exceptions 199711L
#define __cpp_inheriting_constructors 201511L
#define __cpp_initializer_lists 200806L
#define __cpp_lambdas 200907L
#define __cpp_nsdmi 200809L
#define __cpp_range_based_for 200907L
#define __cpp_raw_strings 200710L
#define __cpp_ref_qualifiers 200710L
#define __cpp_rvalue_references 200610L
#define __cpp_static_assert 200410L
#define __cpp_threadsafe_static_init 200806L
#define __cpp_unicode_characters 200704L
#define __cpp_unicode_literals 200710L
#define __cpp_user_defined_literals 200809L
#define __cpp_variadic_templates 200704L
#define __EXCEPTIONS 1
#endif
#if __cplusplus >= 201402
#define __cpp_aggregate_nsdmi 201304L
#define __cpp_binary_literals 201304L
#undef __cpp_constexpr
#define __cpp_constexpr 201304L
#define __cpp_decltype_auto 201304L
#define __cpp_digit_separators 201309L
#define __cpp_generic_lambdas 201304L
#define __cpp_init_captures 201304L
#define __cpp_return_type_deduction 201304L
#define __cpp_sized_deallocation 201309L
#define __cpp_template_template_args 201611L
#define __cpp_variable_templates 201304L
#endif
#if __cplusplus >= 201703
#define __cpp_aggregate_bases 201603L
#define __cpp_aligned_new 201606L
#define __cpp_capture_star_this 201603L
#undef __cpp_constexpr
#define __cpp_constexpr 201603L
#define __cpp_deduction_guides 201703L
#define __cpp_enumerator_attributes 201411L
#define __cpp_fold_expressions 201603L
#define __cpp_guaranteed_copy_elision 201606L
#define __cpp_hex_float 201603L
#define __cpp_if_constexpr 201606L
#define __cpp_inline_variables 201606L
#define __cpp_namespace_attributes 201411L
#define __cpp_nested_namespace_definitions 201411L
#define __cpp_noexcept_function_type 201510L
#define __cpp_nontype_template_args 201411L
#define __cpp_nontype_template_parameter_auto 201606L
#undef __cpp_range_based_for
#define __cpp_range_based_for 201603L
#undef __cpp_static_assert
#define __cpp_static_assert 201411L
#define __cpp_structured_bindings 201606L
#define __cpp_variadic_using 201611L
#endif
#if __cplusplus >= 202002
#define __cpp_aggregate_paren_init 201902L
#define __cpp_char8_t 202207L
#define __cpp_concepts 202002L
#define __cpp_conditional_explicit 201806L
#define __cpp_consteval 202211L
#undef __cpp_constexpr
#define __cpp_constexpr 201907L
#define __cpp_constexpr_dynamic_alloc 201907L
#define __cpp_constexpr_in_decltype 201711L
#define __cpp_constinit 201907L
#undef __cpp_deduction_guides
#define __cpp_deduction_guides 201907L
#define __cpp_designated_initializers 201707L
#undef __cpp_generic_lambdas
#define __cpp_generic_lambdas 201707L
#define __cpp_impl_destroying_delete 201806L
#define __cpp_impl_three_way_comparison 201907L
#undef __cpp_init_captures
#define __cpp_init_captures 201803L
#undef __cpp_nontype_template_args
#define __cpp_nontype_template_args 201911L
#define __cpp_using_enum 201907L
#endif
#if __cplusplus >= 202302
#define __cpp_auto_cast 202110L
#undef __cpp_constexpr
#define __cpp_constexpr 202211L
#define __cpp_explicit_this_parameter 202110L
#define __cpp_if_consteval 202106L
#define __cpp_implicit_move 202207L
#define __cpp_multidimensional_subscript 202211L
#define __cpp_named_character_escapes 202207L
#undef __cpp_range_based_for
#define __cpp_range_based_for 202211L
#define __cpp_size_t_suffix 202011L
#define __cpp_static_call_operator 202207L
#endif
