/** What every user of the API needs to know: the description at the head of the OpenAPI document. */
export const API_GUIDE = `
Offcut cuts and renders recordings on your own server.

**Workflow.** Create a project, create an asset (which opens an upload), upload the file, wait until the asset is \`ready\`, create a cut,
create a render, download it. Register a webhook endpoint instead of polling.

**Authentication.** Every call takes \`Authorization: Bearer sk_…\`. Create keys with \`offcut key create\`. Resources of other users are
\`404 not_found\`.

**Uploads** follow TUS 1.0.0: \`POST /v1/assets\` returns the transfer URL in \`Location\`, to which any TUS client can upload and resume. A
file has at least 64 bytes and at most \`Tus-Max-Size\` (default: 100 GiB). A workspace can have ten unfinished uploads. An upload expires seven
days after its last byte (\`Upload-Expires\`). \`Upload-Metadata\` can have \`filename\` and \`external_id\` (up to 256 characters). A client
that cannot send PATCH or DELETE sends POST with \`X-HTTP-Method-Override\`.

**Errors** are \`{ "error": { "code", "message", "fields"? } }\`. Branch on the code. Checks run in this order: authentication, rate limit,
existence of the resource in the path, body, state, credits. Every response has \`X-Request-Id\`, except 400, 431 and 505 to what is
not valid HTTP or has a path and headers of more than 16 KiB: these have no body either.

**Compatibility.** Responses may gain fields and enum values: ignore what you do not know, and treat an unknown error code as
\`internal_error\`. Nothing is removed, renamed or made stricter within \`/v1\`.

**Limits.** 600 requests per minute and user, with bursts of 100, reported in the \`RateLimit\` headers; above that \`429\` with
\`Retry-After\`. Requests to transfer URLs do not count. JSON bodies have at most 64 KiB (cuts and edits: 1 MiB) and at most 64 levels of
nesting, and must be received within 30 s. Scripts have at most 200,000 characters and 20,000 words, edits at most 20,000 segments. A
\`validation_error\` names at most 50 fields. A workspace has at most 1,000 waiting cuts and renders.
Recordings have at most 24 hours, 8192 pixels per side and 64 streams. Download links are valid
for 15 minutes.

**Lists** return \`items\`, \`limit\` and \`next_cursor\`. Send \`next_cursor\` as \`cursor\` to get the next page; null marks the last page.

**Repeated calls.** A request for an identical cut or render returns the existing one (200 instead of 201). Other calls that create
something take an \`Idempotency-Key\`, which is stored for 24 hours. A replayed response has null in place of a secret.

**Credits.** A recording costs one credit per started minute, held when its length is known and charged when it is \`ready\`. Without enough
credits it is \`pending_payment\` until the next top-up (oldest first), and new uploads are \`402\`.

**Storage.** \`GET /v1/users/me\` shows your usage and your quota, which sources, derived files, renders and text share. Above the quota, new
uploads, cuts and renders are \`409\`. While the server is short of storage, uploads, renders and exports are \`503\` with \`Retry-After\`.

**Webhooks** report terminal states as \`{ "type", "data" }\`. \`data\` has \`entity_id\` and \`asset_id\`; for assets also \`project_id\`,
\`previous_state\` and \`external_id\`; for renders also \`cut_id\`. They are signed as Standard Webhooks (\`webhook-id\`, \`webhook-timestamp\`,
\`webhook-signature\`): verify them with one of its libraries, and ignore an ID that you have already processed. Failed deliveries are
retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.
`.trim();
