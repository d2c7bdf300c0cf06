// The account pages by path.
import { call } from "./api.js";
import { approveDevice } from "./device.js";
import { create, emailField, field, form, link, newPasswordField, paragraph, show } from "./form.js";
import { leave, takeToken } from "./navigation.js";

const INCOMPLETE = "The link is incomplete, or this page was loaded again. Open the whole link once more.";
const NEW_LINK = () => paragraph(link("/forgot-password", "Ask for a new link"));
const SETUP_HINT = () =>
  paragraph("Open the link that ", create("code", {}, "offcut setup-url"), " prints on the server.");

async function setUp() {
  const token = takeToken();
  const { is_set_up: isSetUp } = await call("GET", "auth/methods");
  if (isSetUp)
    return show("Already set up", paragraph("This server has an administrator. ", link("/sign-in", "Sign in")));
  if (token === "") return show("Set up Offcut", SETUP_HINT());
  show(
    "Set up Offcut",
    paragraph("Create the first account. It is an administrator."),
    form([emailField(), newPasswordField()], "Create the account", async (values) => {
      await call("POST", "auth/setup", { token, ...values });
      leave();
    }),
  );
}

async function signIn() {
  const challenge = takeChallenge();
  if (challenge) return askForCode(challenge);
  const methods = await call("GET", "auth/methods");
  if (!methods.is_set_up)
    return show(
      "Set up Offcut",
      paragraph("This server has no account yet."),
      SETUP_HINT(),
      ...listProviders(methods.oidc),
    );
  const password = field("Password", { name: "password", type: "password", autocomplete: "current-password" });
  show(
    "Sign in",
    form([emailField(), password], "Sign in", async (values) => {
      const answer = await call("POST", "auth/login", values);
      if (answer.two_factor_required) askForCode(answer);
      else leave();
    }),
    ...listProviders(methods.oidc),
    paragraph(link("/forgot-password", "Forgot your password?")),
    methods.signup === "open" ? paragraph(link(`/sign-up${location.search}`, "Create an account")) : null,
  );
}

function listProviders(providers) {
  if (providers.length === 0) return [];
  const { search } = location;
  const toLink = ({ name, start_url: url }) => {
    const target = new URL(url, location.origin);
    for (const [key, value] of new URLSearchParams(search)) if (key === "redirect") target.searchParams.set(key, value);
    return create("a", { className: "button secondary", href: target.href }, `Sign in with ${name}`);
  };
  return [create("div", { className: "choices" }, ...providers.map(toLink))];
}

/** Returns the challenge that a sign-in at a provider left behind the `#`, or null. */
function takeChallenge() {
  const values = new URLSearchParams(takeToken());
  const challenge = values.get("challenge");
  const methods = (values.get("methods") ?? "").split(" ").filter((method) => Object.hasOwn(CODE_HINTS, method));
  return challenge === null ? null : { challenge, methods };
}

const CODE_HINTS = {
  totp: "The six digits that your authenticator app shows.",
  email: "The six digits that were sent to your email address.",
  recovery: "You can also enter a recovery code.",
};

function askForCode({ challenge, methods }) {
  const hint = methods.map((method) => CODE_HINTS[method]).join(" ");
  const code = field("Code", { name: "code", autocomplete: "one-time-code", spellcheck: false, maxLength: 40 }, hint);
  show(
    "Enter your code",
    form([code], "Sign in", async (values) => {
      await call("POST", "auth/login/two-factor", { challenge, code: values.code.trim() });
      leave();
    }),
    paragraph(link(`/sign-in${location.search}`, "Start again")),
  );
}

async function signUp() {
  const { signup } = await call("GET", "auth/methods");
  if (signup !== "open")
    return show(
      "Create an account",
      paragraph("Sign-up is closed on this server. Ask an administrator for an invitation."),
    );
  show(
    "Create an account",
    form([emailField(), newPasswordField()], "Create the account", async (values) => {
      await call("POST", "auth/signup", values);
      leave();
    }),
    paragraph(link(`/sign-in${location.search}`, "Sign in instead")),
  );
}

async function forgotPassword() {
  const { email } = await call("GET", "auth/methods");
  if (!email)
    return show(
      "Forgot your password?",
      paragraph("This server sends no mails. Ask an administrator for a link to set a new password."),
    );
  show(
    "Forgot your password?",
    form([emailField()], "Send a link", async (values) => {
      await call("POST", "auth/password/forgot", values);
      show("Check your mail", paragraph("If the address has an account, a link to set a new password is on its way."));
    }),
  );
}

async function resetPassword() {
  const token = takeToken();
  if (token === "") return show("Reset your password", paragraph(INCOMPLETE), NEW_LINK());
  show(
    "Reset your password",
    form([newPasswordField()], "Set the password", async (values) => {
      await call("POST", "auth/password/reset", { token, ...values });
      show("Password changed", paragraph("All sessions were ended. ", link("/sign-in", "Sign in")));
    }),
    NEW_LINK(),
  );
}

async function verifyEmail() {
  const token = takeToken();
  if (token === "") return show("Confirm your email address", paragraph(INCOMPLETE));
  show(
    "Confirm your email address",
    form([], "Confirm", async () => {
      await call("POST", "auth/verify-email", { token });
      show("Address confirmed", paragraph(link("/", "Continue")));
    }),
  );
}

async function acceptInvitation() {
  const token = takeToken();
  if (token === "") return show("Invitation", paragraph(INCOMPLETE));
  show(
    "Welcome to Offcut",
    paragraph("Choose a password for your account."),
    form([newPasswordField()], "Create the account", async (values) => {
      await call("POST", "auth/invitation", { token, ...values });
      leave();
    }),
  );
}

/** What to run for a path. */
export const PAGES = {
  "/setup": setUp,
  "/sign-in": signIn,
  "/sign-up": signUp,
  "/forgot-password": forgotPassword,
  "/reset-password": resetPassword,
  "/verify-email": verifyEmail,
  "/invitation": acceptInvitation,
  "/oauth/device": approveDevice,
};
