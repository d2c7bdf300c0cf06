import type { Schemas } from "../../app/api";
import { Icon } from "../../ui/icon";
import { Status } from "../../ui/status";

type Part = keyof Schemas["ServerStatus"]["parts"];
type PartState = Schemas["ServerStatus"]["parts"][Part];

const LOOKS: Record<PartState, { text: string; look: string }> = {
  ok: { text: "Works", look: "good" },
  starting: { text: "Starting", look: "busy" },
  limited: { text: "Limited", look: "waiting" },
  unavailable: { text: "Not available", look: "bad" },
  off: { text: "Off", look: "" },
};

const NAMES: Record<Part, string> = {
  uploads: "Uploads",
  renders: "Renders",
  speech_recognition: "Speech recognition",
  email: "Email",
};

const WHAT_IS_WRONG: { [Name in Part]: Partial<Record<PartState, string>> } = {
  uploads: {
    unavailable:
      "The server's disk is almost full. Existing recordings are safe. Delete files that you no longer need, or ask the administrator to free some space.",
  },
  renders: {
    starting: "Offcut is testing the encoders. This takes a few seconds after startup.",
    unavailable: "Renders cannot be created until the administrator fixes the server. Recordings and cuts are safe.",
  },
  speech_recognition: {
    limited: "An installed model is damaged: recordings in its languages are not recognized. Ask the administrator.",
  },
  email: { off: "This server does not send email. Notifications are shown only here." },
};

type PartsProps = { status: Schemas["ServerStatus"]; isOnline: boolean };

/** A one-sentence summary. */
export function Overall({ status, isOnline }: PartsProps) {
  const isGood = isOnline && status.status === "ok";
  return (
    <div class={isGood ? "message good" : "message warning"} role="status">
      <Icon name={isGood ? "check" : "warning"} />
      <p>
        {isGood
          ? "Everything works."
          : isOnline
            ? "Part of the server is not working. Saved data is safe."
            : "The server does not respond. Saved data is safe. This page retries automatically."}
      </p>
    </div>
  );
}

/** Lists each component with its state, and what to do when it does not work. */
export const Parts = ({ status, isOnline }: PartsProps) => (
  <ul class="plain-list status-parts">
    <PartRow
      name="Connection"
      state={isOnline ? "ok" : "unavailable"}
      text={isOnline ? undefined : "This browser cannot reach the server. Check the network."}
    />
    {(Object.keys(NAMES) as Part[]).map((part) => (
      <PartRow
        key={part}
        name={NAMES[part]}
        state={status.parts[part]}
        text={WHAT_IS_WRONG[part][status.parts[part]]}
      />
    ))}
  </ul>
);

const PartRow = ({ name, state, text }: { name: string; state: PartState; text: string | undefined }) => (
  <li class="status-part">
    <strong>{name}</strong>
    <Status {...LOOKS[state]} />
    {text && <p class="soft">{text}</p>}
  </li>
);
