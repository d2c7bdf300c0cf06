/** The description at the head of the OpenAPI document of API keys. */
export const KEYS_GUIDE = `
API keys of the signed-in user. A session is needed (\`Authorization: Bearer\` with its token, or the cookie \`service_session\`): an API key
gets 403 \`forbidden\`. To create a key, the user must have signed in within the last 12 hours; otherwise the 403 has
\`"reason": "session_too_old"\`.

A key has the scopes \`read\` (GET and HEAD), \`write\` (everything else) or both, and acts in the workspace that it was created in. Errors have
the shape of \`/v1\`.
`.trim();
