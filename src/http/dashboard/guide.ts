/** What every user of the dashboard family needs to know: the description at the head of its OpenAPI document. */
export const DASHBOARD_GUIDE = `
The API of the dashboard and of other first-party clients. It serves the resources of \`/v1\` with its own authentication and errors, and
adds accounts and administration.

**Authentication.** \`Authorization: Bearer\` with a session token or an API key, or the cookie \`service_session\`, which sign-in sets. A
request with a cookie that is not GET or HEAD must have an \`Origin\` header that names this server, as browsers send it. The calls of uploads
and \`DELETE /api/v1/assets/{asset_id}\` also take a cookie without \`Origin\`, unless \`Sec-Fetch-Site\` names another site. Workspaces, members,
orders and what belongs to an account can be changed with a session only. A key for the personal workspace with both scopes, which its user has
created, can also export the account and change its name.

**Workspaces.** Every resource belongs to a workspace. A session acts in the one whose ID is in the header \`Offcut-Workspace\` (or in
\`workspace_id\` in the query of event streams and media), by default in the user's own. An API key acts in the one that it was made for. A
\`viewer\` reads, an \`editor\` also writes, an \`owner\` also manages the workspace. To others, everything in it is \`not_found\`.

**Pipelines** run several cuts and renders of an asset, one after the other. \`POST /api/v1/pipelines\` checks all steps before the first starts.
Each completed step registers its output as an asset. A step that fails ends the pipeline, and the later ones stay \`pending\`; a retry makes a
new cut or render for it and continues. Prices of steps are held at the start and charged one by one.

**Drafts and share links.** JSON bodies of drafts have at most 1 MiB. A share link needs no credential and works until it expires or its render is
deleted.

**Live updates.** \`GET /api/v1/events\` and \`GET /api/v1/pipelines/{id}/events\` are server-sent events, which resume after \`Last-Event-ID\`.

**Errors** are \`{ "detail", "code" }\` with the codes of \`/v1\`. Failing fields are
\`{ "detail": [{ "loc", "msg", "type", "input", "ctx" }] }\` with the error types of pydantic v2. Secrets are never repeated in \`input\`.
`.trim();
