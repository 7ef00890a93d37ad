# SPDX-License-Identifier: Apache-2.0
"""Names of ONNX Runtime's package that the host lacks say so, in a sentence."""

from __future__ import annotations

import onnx
import onnx_light_ort_host as ort
import pytest
from onnx_light_ort_host import absent

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
).SerializeToString()

# Public names of onnxruntime 1.32.0.
SESSION = """create_ortvalue_from_shape_and_type disable_fallback enable_fallback end_profiling get_input_epdevices
    get_input_memory_infos get_inputs get_modelmeta get_output_epdevices get_output_memory_infos get_outputs
    get_overridable_initializers get_profiling_start_time_ns get_provider_graph_assignment_info get_provider_options
    get_providers get_session_options get_tuning_results io_binding release_captured_graph run run_async
    run_with_iobinding run_with_ort_values run_with_ortvaluevector set_ep_dynamic_options set_providers
    set_tuning_results"""
SESSION_OPTIONS = """add_external_initializers add_external_initializers_from_files_in_memory
    add_free_dimension_override_by_denotation add_free_dimension_override_by_name add_initializer add_provider
    add_provider_for_devices add_session_config_entry clear_ep_context_data_read_func enable_cpu_mem_arena
    enable_mem_pattern enable_mem_reuse enable_profiling execution_mode execution_order get_session_config_entry
    graph_optimization_level has_providers inter_op_num_threads intra_op_num_threads log_severity_level
    log_verbosity_level logid optimized_model_filepath profile_file_prefix register_custom_ops_library
    set_ep_context_data_read_func set_load_cancellation_flag set_provider_selection_policy
    set_provider_selection_policy_delegate use_deterministic_compute use_per_session_threads"""
RUN_OPTIONS = """add_active_adapter add_run_config_entry get_run_config_entry log_severity_level log_verbosity_level
    logid only_execute_path_to_fetches terminate"""


@pytest.mark.parametrize(
    ("owner", "names"),
    [(ort.InferenceSession, SESSION), (ort.SessionOptions, SESSION_OPTIONS), (ort.RunOptions, RUN_OPTIONS)],
)
def test_every_name_of_the_classes_exists(owner, names):
    assert [name for name in names.split() if not hasattr(owner, name)] == []


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: ort.InferenceSession(MODEL), absent.SESSION),
        (ort.SessionOptions, absent.SESSION_OPTIONS),
        (ort.RunOptions, absent.RUN_OPTIONS),
    ],
)
def test_what_a_class_lacks_says_so(make, names):
    instance = make()
    for name in names:
        method = getattr(instance, name)
        assert method.__doc__.startswith("Not in this version")
        for call in (method, lambda method=method: method(1, key="value")):
            with pytest.raises(ort.NotImplemented, match=rf"^{name}: .* (is|are) not in this version$"):
                call()


def test_what_the_package_lacks_says_so():
    for name in absent.MODULE:
        with pytest.raises(ort.NotImplemented, match=rf"^{name}: .* (is|are) not in this version$"):
            getattr(ort, name)
        assert not hasattr(ort, name)
        assert getattr(ort, name, None) is None
    with pytest.raises(AttributeError, match="module 'onnx_light_ort_host' has no attribute 'Nothing'") as failure:
        ort.Nothing  # noqa: B018
    assert failure.type is AttributeError


def test_options_that_only_have_their_default():
    options = ort.SessionOptions()
    with pytest.raises(ort.NotImplemented, match=r"^enable_profiling: profiling is not in this version, got True$"):
        options.enable_profiling = True
    with pytest.raises(
        ort.NotImplemented, match=r"^optimized_model_filepath: .* is not in this version, got 'm.onnx'$"
    ):
        options.optimized_model_filepath = "m.onnx"
    assert (options.enable_profiling, options.optimized_model_filepath) == (False, "")
