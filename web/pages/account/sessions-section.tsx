import { useMemo } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { showToast } from "../../app/toasts";
import { type Column, createActionsColumn, DataTable } from "../../ui/data-table";
import { ConfirmButton } from "../../ui/dialog";
import { focusHeading } from "../../ui/page";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { BusyButton } from "../../ui/use-busy";

type Session = Schemas["SessionItem"];

/** Lists the user's sessions. */
export function SessionsSection() {
  const list = useOffsetList<Session>(["sessions"], (query, signal) =>
    must(api.GET("/api/v1/sessions", { params: { query }, signal })),
  );
  const columns = useMemo(() => createColumns(list.reload), [list]);
  const others = list.items.value?.some(({ is_current: isCurrent }) => !isCurrent) ?? false;
  return (
    <Section
      title="Sessions"
      hint="Browsers and devices that are signed in to your account. A session ends after 30 days without use."
      actions={
        <ConfirmButton
          isOffered={others}
          button={{ children: "End all other sessions" }}
          title="End all other sessions?"
          confirmLabel="End other sessions"
          onConfirm={async () => {
            await must(api.DELETE("/api/v1/sessions"));
            showToast({ kind: "info", text: "All other sessions have ended." });
            await list.reload();
          }}
        >
          <p>
            All of your other browsers and devices are signed out. Uploads that run there stop, and can be resumed after
            signing in. API keys keep working.
          </p>
        </ConfirmButton>
      }
    >
      <div>
        <DataTable caption="Sessions" columns={columns} list={list} empty={<Empty title="No sessions" icon="user" />} />
      </div>
    </Section>
  );
}

const createColumns = (onEnded: () => Promise<void>): Column<Session>[] => [
  {
    title: "Device",
    width: "minmax(0, 1.4fr)",
    cell: ({ user_agent: agent, is_current: isCurrent }) => (
      <span title={agent ?? undefined}>
        {toDeviceName(agent)} {isCurrent && <span class="status good">This session</span>}
      </span>
    ),
  },
  { title: "Address", width: "minmax(0, 1.6fr)", cell: ({ address }) => address ?? <span class="soft">unknown</span> },
  { title: "Signed in", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  { title: "Last used", cell: ({ last_seen_at: time }) => <RelativeTime iso={time} /> },
  createActionsColumn("4.5rem", (session) =>
    session.is_current ? null : <EndButton session={session} onEnded={onEnded} />,
  ),
];

/** Ends a session without confirmation: the user only has to sign in again. */
function EndButton({ session, onEnded }: { session: Session; onEnded(): Promise<void> }) {
  const device = toDeviceName(session.user_agent);
  const end = async () => {
    await must(api.DELETE("/api/v1/sessions/{session_id}", { params: { path: { session_id: session.id } } }));
    showToast({ kind: "info", text: `The session of ${device} has ended.` });
    await onEnded();
    focusHeading();
  };
  return (
    <BusyButton work={end} aria-label={`End the session of ${device}, ${session.address ?? "unknown address"}`}>
      End
    </BusyButton>
  );
}

const BROWSERS: [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bVersion\/.*\bSafari\//, "Safari"],
];

const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

const find = (table: [RegExp, string][], text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/**
 * Returns "Firefox on Windows" for the header `User-Agent` of a browser, and the first word for other programs, such as
 * "curl 8.5.0".
 */
export function toDeviceName(userAgent: string | null): string {
  if (!userAgent?.trim()) return "Unknown device";
  const browser = find(BROWSERS, userAgent);
  const system = find(SYSTEMS, userAgent);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? userAgent.trim().split(/\s/)[0]!.replace("/", " ");
}
