/** What every user of the dashboard family needs to know: the description at the head of its OpenAPI document. */
export const DASHBOARD_GUIDE = `
The API of the dashboard and of other first-party clients. It serves the resources of \`/v1\` with its own authentication and errors, and
adds accounts and administration.

**Authentication.** \`Authorization: Bearer\` with a session token or an API key, or the cookie \`service_session\`, which sign-in sets. A
request with a cookie that is not GET or HEAD must have an \`Origin\` header that names this server, as browsers send it.

**Errors** are \`{ "detail", "code" }\` with the codes of \`/v1\`. Failing fields are
\`{ "detail": [{ "loc", "msg", "type", "input", "ctx" }] }\` with the error types of pydantic v2. Secrets are never repeated in \`input\`.
`.trim();
