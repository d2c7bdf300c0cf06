/** What every user of the API needs to know before the single calls: the description at the head of the documentation. */
export const API_GUIDE = `
Offcut cuts recordings and renders them, on your own server.

**The way of a recording.** Make a project, make an asset (which opens an upload), send the bytes, wait until the asset is \`ready\`,
ask for a cut, ask for a render, download it. Instead of asking again and again, register a webhook endpoint.

**Authentication.** Every call takes \`Authorization: Bearer sk_…\`; keys come from \`offcut key create\`. What belongs to somebody else is
\`404 not_found\`.

**Uploads** follow TUS 1.0.0: \`POST /v1/assets\` answers with the transfer URL in \`Location\`; any TUS client sends and resumes there. A file
has at least 64 bytes and at most \`Tus-Max-Size\` (100 GiB unless configured otherwise). Ten unfinished uploads a user; one is given up
seven days after its last byte (\`Upload-Expires\`). \`Upload-Metadata\` may carry \`filename\` and \`external_id\` (up to 256 characters).
Where PATCH or DELETE cannot be sent, POST with \`X-HTTP-Method-Override\` does.

**Errors** are \`{ "error": { "code", "message", "fields"? } }\`: branch on the code. Checks come in this order: authentication, rate, existence
of the path's resource, body, state, credits. Every answer carries \`X-Request-Id\`.

**Limits.** 600 requests a minute and user with bursts of 100, told in the \`RateLimit\` headers; beyond it \`429\` with \`Retry-After\`. Calls on
transfer URLs do not count. JSON bodies have at most 64 KiB, those of cuts and edits 1 MiB, and are nested at most 64 levels deep; a body that
is not received within 30 s is refused. Scripts have at most 200,000 characters and 20,000 words, edits at most 20,000 segments. A
\`validation_error\` names at most 50 fields. Recordings have at most 24 hours, 8192 pixels a side and 64 streams. Download links last 15 minutes.

**Lists** give \`items\`, \`limit\` and \`next_cursor\`; pass the cursor back as it is, null is the end.

**Repeating a call.** The same cut or render asked for twice is the same one (200 instead of 201). Other creating calls take an
\`Idempotency-Key\`, which is remembered for 24 hours. A repeated answer does not show a secret again: it is null there.

**Credits.** A recording costs a credit for each started minute, held once its length is known and charged when it is \`ready\`. Without enough
it waits as \`pending_payment\` for the next credits, oldest first, and until then new uploads are \`402\`.

**Storage.** \`GET /v1/users/me\` shows what you use and your quota, which is shared by sources, what is made from them, and renders. Above
it new uploads and renders are \`409\`. While the server is short of storage, uploads, renders and exports are \`503\` with \`Retry-After\`.

**Webhooks** tell terminal states as \`{ "type", "data" }\`: \`data\` holds \`entity_id\` and \`asset_id\`; of assets also \`project_id\`,
\`previous_state\` and \`external_id\`, of renders \`cut_id\`. They are signed as Standard Webhooks (\`webhook-id\`, \`webhook-timestamp\`,
\`webhook-signature\`): verify with any of its libraries and drop an id seen before. A delivery that fails is repeated after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.
`.trim();
