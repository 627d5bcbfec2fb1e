"""The `google-genai` package against the mock: a text, a call and its result, streamed and whole."""

from google import genai
from google.genai import types
from service import ARGUMENTS, SCHEMA, TEXT, same, service


def main(url):
    options = types.HttpOptions(base_url=url, api_version="v1beta")
    client = genai.Client(api_key="k", vertexai=False, http_options=options)
    asked = types.Content(role="user", parts=[types.Part(text="Read the notes.")])
    plain = types.GenerateContentConfig(max_output_tokens=4096)
    function = types.FunctionDeclaration(
        name="read", description="Reads a file.", parameters=types.Schema.model_validate({
            "type": "OBJECT", "required": SCHEMA["required"], "properties": {
                "path": {"type": "STRING"}, "limit": {"type": "INTEGER"}}}))
    off = types.AutomaticFunctionCallingConfig(disable=True)
    tools = types.GenerateContentConfig(
        max_output_tokens=4096, tools=[types.Tool(function_declarations=[function])],
        automatic_function_calling=off)
    ask = {"model": "gemini-mock"}
    whole = client.models.generate_content(contents=[asked], config=plain, **ask)
    same("text, whole", whole.text, TEXT)
    used = whole.usage_metadata
    same("usage", (used.prompt_token_count, used.candidates_token_count), (25, 12))
    chunks = client.models.generate_content_stream(contents=[asked], config=plain, **ask)
    same("text, streamed", "".join(chunk.text or "" for chunk in chunks), TEXT)
    whole = client.models.generate_content(contents=[asked], config=tools, **ask)
    same("call, whole", whole.function_calls[0].args, ARGUMENTS)
    parts = []
    for chunk in client.models.generate_content_stream(contents=[asked], config=tools, **ask):
        parts.extend(part for part in chunk.candidates[0].content.parts if part.function_call)
    same("call, streamed", (parts[0].function_call.name, parts[0].function_call.args),
         ("read", ARGUMENTS))
    answer = types.Content(role="model", parts=parts)
    response = types.FunctionResponse(name="read", response={"output": "notes"})
    result = types.Content(role="user", parts=[types.Part(function_response=response)])
    chunks = client.models.generate_content_stream(
        contents=[asked, answer, result], config=tools, **ask)
    same("after the result", "".join(chunk.text or "" for chunk in chunks), TEXT)


with service() as url:
    print("google-genai", genai.__version__)
    main(url)
