// The page on which a user approves or denies a device.
import { ApiError, call } from "./api.js";
import { create, field, form, link, paragraph, show } from "./form.js";

/** Calls the OAuth family. `workspaceId` null: the personal workspace. Throws `ApiError`. */
async function send(path, userCode, workspaceId = null) {
  const response = await fetch(`/oauth/${path}`, {
    method: "POST",
    credentials: "same-origin",
    headers: workspaceId === null ? {} : { "Offcut-Workspace": workspaceId },
    body: new URLSearchParams({ user_code: userCode }),
  }).catch(() => {
    throw new ApiError("The server does not respond. Check the connection and try again.", "offline", []);
  });
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  const { error = "internal_error", error_description: message, reason } = answer ?? {};
  throw new ApiError(message ?? "Something went wrong. Try again.", reason ?? error, ["user_code"]);
}

const signInUrl = (userCode) => {
  const back = `/oauth/device?${new URLSearchParams({ user_code: userCode })}`;
  return `/sign-in?${new URLSearchParams({ redirect: back })}`;
};

/** Shows the page of `/oauth/device`. */
export async function approveDevice() {
  const userCode = new URLSearchParams(location.search).get("user_code") ?? "";
  let me;
  try {
    me = await call("GET", "users/me");
  } catch (error) {
    if (error.code !== "unauthenticated") throw error;
    return location.replace(signInUrl(userCode));
  }
  askForCode(me, userCode);
}

function askForCode(me, userCode) {
  const input = field(
    "Code",
    { name: "user_code", value: userCode, autocomplete: "off", autocapitalize: "characters", spellcheck: false },
    "The eight letters that your device shows.",
  );
  show(
    "Connect a device",
    form([input], "Continue", async (values) => {
      const request = await send("device", values.user_code);
      await review(me, request);
    }),
  );
}

const RIGHTS = {
  read: "read your projects and recordings",
  write: "upload, change and delete your projects and recordings",
  "read write": "read, upload, change and delete your projects and recordings",
};

async function review(me, request) {
  const { user_code: userCode, client_id: name, scope, address } = request;
  const choice = await chooseWorkspace();
  const facts = [
    ["Device", name],
    ["Code", userCode],
    ["It may", RIGHTS[scope] ?? scope],
    ["Account", me.email],
    ["Address of the device", address ?? "unknown"],
  ];
  const deny = create("button", { type: "button", className: "secondary" }, "Deny");
  deny.addEventListener("click", async () => {
    await send("device/deny", userCode).catch(() => {});
    show("Denied", paragraph("The device got no access."));
  });
  show(
    "Connect this device?",
    paragraph("Approve only if you have just started this on your own device, and it shows the same code."),
    create("dl", {}, ...facts.flatMap(([term, value]) => [create("dt", {}, term), create("dd", {}, value)])),
    form(choice === null ? [] : [choice], "Approve", async (values) => {
      try {
        await send("device/approve", userCode, values.workspace ?? null);
      } catch (error) {
        if (error.code !== "session_too_old") throw error;
        return show("Sign in again", paragraph("This needs a recent sign-in. ", link(signInUrl(userCode), "Sign in")));
      }
      show("Connected", paragraph("You can return to your device. To disconnect it, revoke its API key."));
    }),
    deny,
  );
}

/** Returns a choice among the user's workspaces, or null if there is only the personal one. */
async function chooseWorkspace() {
  const { items } = await call("GET", "workspaces").catch(() => ({ items: [] }));
  if (items.length < 2) return null;
  const options = items.map(({ id, name }) => create("option", { value: id }, name));
  return create("label", {}, create("span", {}, "Workspace"), create("select", { name: "workspace" }, ...options));
}
