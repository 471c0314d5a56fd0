"""Which options were given on the command line, as opposed to their defaults."""

import typer


def options_given(context: typer.Context) -> list[str]:
    """In the order of the help."""
    sources = (
        (option, context.get_parameter_source(str(option.name)))
        for option in context.command.params
    )
    return [
        option.opts[0]
        for option, source in sources
        if source is not None and source.name == "COMMANDLINE"
    ]
