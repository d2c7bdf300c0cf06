import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { formatKeys, letterKeys, listenKeys, listShortcuts, setLetterKeys, useShortcuts } from "../app/shortcuts";
import { Dialog } from "../ui/dialog";

export const isHelpOpen = signal(false);

/** Handles keyboard shortcuts on all pages, and lists them. */
export function KeyboardHelp() {
  useLayoutEffect(listenKeys, []);
  useShortcuts(
    useMemo(
      () => [
        { keys: ["?"], label: "Show keyboard shortcuts", group: "Everywhere", run: () => (isHelpOpen.value = true) },
      ],
      [],
    ),
  );
  if (!isHelpOpen.value) return null;
  const shortcuts = listShortcuts();
  const groups = [...new Set(shortcuts.map(({ group }) => group))];
  return (
    <Dialog title="Keyboard shortcuts" isWide onClose={() => (isHelpOpen.value = false)}>
      <div class="dialog-body">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl class="keys">
              {shortcuts
                .filter((shortcut) => shortcut.group === group)
                .map(({ keys, label }) => (
                  <KeyRow key={label} keys={keys} label={label} />
                ))}
            </dl>
          </section>
        ))}
        <label class="check">
          <input
            type="checkbox"
            checked={letterKeys.value}
            onChange={(event) => setLetterKeys(event.currentTarget.checked)}
          />
          Single letters work as shortcuts
        </label>
      </div>
    </Dialog>
  );
}

const KeyRow = ({ keys, label }: { keys: string[]; label: string }) => (
  <>
    <dt>
      {keys.map((one, index) => (
        <>
          {index > 0 && " or "}
          <kbd key={one}>{formatKeys(one)}</kbd>
        </>
      ))}
    </dt>
    <dd>{label}</dd>
  </>
);
