"""The `openai` package against the mock, in both of its formats: a text, a call and its result,
streamed and whole."""

import json

import openai
from service import ARGUMENTS, SCHEMA, TEXT, same, service

FUNCTION = {"name": "read", "description": "Reads a file.", "parameters": SCHEMA}


def completions(client):
    tools = [{"type": "function", "function": FUNCTION}]
    asked = {"role": "user", "content": "Read the notes."}
    create = client.chat.completions.create
    whole = create(model="mock", messages=[asked])
    same("chat: text, whole", whole.choices[0].message.content, TEXT)
    whole = create(model="mock", messages=[asked], tools=tools)
    arguments = whole.choices[0].message.tool_calls[0].function.arguments
    same("chat: call, whole", json.loads(arguments), ARGUMENTS)
    streamed = {"model": "mock", "stream_options": {"include_usage": True}}
    with client.chat.completions.stream(messages=[asked], **streamed) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        final = stream.get_final_completion()
    same("chat: text, streamed", text, TEXT)
    same("chat: usage", (final.usage.prompt_tokens, final.usage.completion_tokens), (25, 12))
    with client.chat.completions.stream(messages=[asked], tools=tools, **streamed) as stream:
        final = stream.get_final_completion()
    call = final.choices[0].message.tool_calls[0]
    same("chat: call, streamed", (call.id, call.function.name, json.loads(call.function.arguments)),
         ("call_1", "read", ARGUMENTS))
    answer = {"role": "assistant", "content": None, "tool_calls": [{
        "id": call.id, "type": "function", "function": {
            "name": call.function.name, "arguments": call.function.arguments}}]}
    result = {"role": "tool", "tool_call_id": call.id, "content": "notes"}
    messages = [asked, answer, result]
    with client.chat.completions.stream(messages=messages, tools=tools, **streamed) as stream:
        final = stream.get_final_completion()
    same("chat: after the result", final.choices[0].message.content, TEXT)


def responses(client):
    tools = [{"type": "function", "strict": False, **FUNCTION}]
    asked = {"type": "message", "role": "user", "content": "Read the notes."}
    common = {"model": "mock", "store": False, "include": ["reasoning.encrypted_content"]}
    whole = client.responses.create(input=[asked], **common)
    same("responses: text, whole", whole.output_text, TEXT)
    whole = client.responses.create(input=[asked], tools=tools, **common)
    same("responses: call, whole", json.loads(whole.output[1].arguments), ARGUMENTS)
    with client.responses.stream(input=[asked], **common) as stream:
        kinds = {"response.output_text.delta"}
        text = "".join(event.delta for event in stream if event.type in kinds)
        final = stream.get_final_response()
    same("responses: text, streamed", (text, final.output_text), (TEXT, TEXT))
    same("responses: thoughts", (final.output[0].summary[0].text, final.output[0].encrypted_content),
         ("Let me see.", "c2VhbA"))
    same("responses: usage", (final.usage.input_tokens, final.usage.output_tokens), (25, 12))
    with client.responses.stream(input=[asked], tools=tools, **common) as stream:
        final = stream.get_final_response()
    thought, call = final.output
    same("responses: call, streamed", (call.call_id, call.name, json.loads(call.arguments)),
         ("call_1", "read", ARGUMENTS))
    back = [asked, thought.model_dump(exclude_none=True),
            call.model_dump(include={"type", "call_id", "name", "arguments"}),
            {"type": "function_call_output", "call_id": call.call_id, "output": "notes"}]
    with client.responses.stream(input=back, tools=tools, **common) as stream:
        same("responses: after the result", stream.get_final_response().output_text, TEXT)


with service() as url:
    print("openai", openai.__version__)
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    completions(client)
    responses(client)
