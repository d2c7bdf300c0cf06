/** What every user of the dashboard family needs to know: the description at the head of its OpenAPI document. */
export const DASHBOARD_GUIDE = `
The API of the dashboard and of other first-party clients. It serves the resources of \`/v1\` with its own authentication and errors, and
adds accounts and administration.

**Authentication.** \`Authorization: Bearer\` with a session token or an API key, or the cookie \`service_session\`, which sign-in sets. A
request with a cookie that is not GET or HEAD must have an \`Origin\` header that names this server, as browsers send it.

**Workspaces.** Every resource belongs to a workspace. A session acts in the one whose ID is in the header \`Offcut-Workspace\` (or in
\`workspace_id\` in the query of event streams and media), by default in the user's own. An API key acts in the one that it was made for. A
\`viewer\` reads, an \`editor\` also writes, an \`owner\` also manages the workspace. To others, everything in it is \`not_found\`.

**Errors** are \`{ "detail", "code" }\` with the codes of \`/v1\`. Failing fields are
\`{ "detail": [{ "loc", "msg", "type", "input", "ctx" }] }\` with the error types of pydantic v2. Secrets are never repeated in \`input\`.
`.trim();
