/** The description at the head of the OAuth family's OpenAPI document. */
export const OAUTH_GUIDE = `
Devices and programs without a browser get an API key by the device authorization grant (RFC 8628): request codes, show \`user_code\` and
\`verification_uri\`, poll \`/oauth/token\` every \`interval\` seconds. The user signs in, compares the code and approves. The key acts in the
user's personal workspace, or the one that the user chose, and is listed and revoked like every other key.

**Bodies** are \`application/x-www-form-urlencoded\`. Clients are public: any \`client_id\` of 1 to 64 characters, no secret.

**Errors** are \`{ "error", "error_description" }\` as in RFC 6749. \`/oauth/device\` and what is below it need the session of the page.
`.trim();
