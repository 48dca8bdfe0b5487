"""What is wrong with the scripts and mappings of a configuration, told when it loads."""

from a2c_smcp.computer.mcp_clients.model import ComputerConfig
from a2c_smcp.computer.mcp_clients.problems import Problem
from a2c_smcp.computer.tools.shaping import check_mapper
from a2c_smcp.computer.tools.vrl import check_vrl


def shaping_problems(config: ComputerConfig) -> list[Problem]:
    """Return a problem for each `vrl` script and each `ret_object_mapper` that cannot be compiled.

    Compiling a script takes a moment and a process: call it away from an event loop.
    """
    problems = []
    for name, server in config.servers.items():
        if server.vrl and (wrong := check_vrl(server.vrl)):
            problems.append(Problem(f"servers.{name}.vrl", wrong))
        metas = {f"tool_meta.{tool}": meta for tool, meta in server.tool_meta.items()}
        if server.default_tool_meta is not None:
            metas["default_tool_meta"] = server.default_tool_meta
        for place, meta in metas.items():
            if meta.ret_object_mapper and (wrong := check_mapper(meta.ret_object_mapper)):
                problems.append(Problem(f"servers.{name}.{place}.ret_object_mapper", wrong))
    return problems
