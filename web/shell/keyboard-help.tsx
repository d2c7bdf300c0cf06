import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import {
  type Action,
  formatKeys,
  letterKeys,
  listActions,
  listenKeys,
  setLetterKeys,
  useActions,
} from "../app/actions";
import { Dialog } from "../ui/dialog";

const isHelpOpen = signal(false);

/** Handles keyboard shortcuts on all pages, and lists them. */
export function KeyboardHelp() {
  useLayoutEffect(listenKeys, []);
  useActions(
    useMemo(
      () => [
        {
          name: "help.keys",
          label: "Show keyboard shortcuts",
          group: "Everywhere",
          keys: ["?"],
          perform: () => (isHelpOpen.value = true),
        },
      ],
      [],
    ),
  );
  if (!isHelpOpen.value) return null;
  const shortcuts = listActions().filter(({ keys }) => keys.length > 0);
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
                .map((action) => (
                  <KeyRow key={action.name} {...action} />
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

const KeyRow = ({ keys, label }: Pick<Action, "keys" | "label">) => (
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
