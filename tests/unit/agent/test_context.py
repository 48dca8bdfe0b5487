"""The front door of the context."""

from a2c_smcp.agent import context, desktops, packing, sync_desktops


def test_both_twins_and_their_parts_are_there() -> None:
    assert context.render_context is desktops.render_context
    assert context.sync_render_context is sync_desktops.render_context
    assert (context.PackedWindow, context.pack, context.windows_of) == (
        packing.PackedWindow,
        packing.pack,
        packing.windows_of,
    )
