"""The `anthropic` package against the mock: a text, a call and its result, streamed and whole."""

import anthropic
from service import ARGUMENTS, SCHEMA, TEXT, same, service

TOOLS = [{"name": "read", "description": "Reads a file.", "input_schema": SCHEMA}]
ASKED = {"role": "user", "content": [{"type": "text", "text": "Read the notes."}]}


def main(url):
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    common = {"model": "claude-mock", "max_tokens": 4096}
    whole = client.messages.create(messages=[ASKED], **common)
    same("text, whole", whole.content[0].text, TEXT)
    same("usage", (whole.usage.input_tokens, whole.usage.output_tokens), (25, 12))
    with client.messages.stream(messages=[ASKED], **common) as stream:
        same("text, streamed", "".join(stream.text_stream), TEXT)
        final = stream.get_final_message()
    same("thinking", (final.content[0].thinking, final.content[0].signature),
         ("Let me see.", "c2lnbmVk"))
    with client.messages.stream(messages=[ASKED], tools=TOOLS, **common) as stream:
        final = stream.get_final_message()
    call = final.content[-1]
    same("call, streamed", (final.stop_reason, call.name, call.input),
         ("tool_use", "read", ARGUMENTS))
    answer = {"role": "assistant", "content": [
        block.model_dump(exclude_none=True, include={
            "type", "text", "thinking", "signature", "id", "name", "input"})
        for block in final.content]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id,
              "content": [{"type": "text", "text": "notes"}]}]}
    with client.messages.stream(messages=[ASKED, answer, result], tools=TOOLS, **common) as stream:
        same("after the result", stream.get_final_text(), TEXT)
    whole = client.messages.create(messages=[ASKED], tools=TOOLS, **common)
    same("call, whole", whole.content[-1].input, ARGUMENTS)


with service() as url:
    print("anthropic", anthropic.__version__)
    main(url)
