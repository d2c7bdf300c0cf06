/** The list of keyboard shortcuts, which is loaded when it is first opened. */
import { type Action, formatKeys, letterKeys, listActions } from "../app/actions";
import { Dialog } from "../ui/dialog";

/** In the order of their use. Other groups follow, those of every page last. */
const GROUPS = ["Playback", "Places", "Transcript", "Editing", "Review", "Reasons", "Timeline"];
const LAST = "Everywhere";

const rank = (group: string): number => {
  const index = GROUPS.indexOf(group);
  return group === LAST ? GROUPS.length + 1 : index === -1 ? GROUPS.length : index;
};

export function KeyboardHelp({ onClose }: { onClose(): void }) {
  const shortcuts = listActions().filter(({ keys }) => keys.length > 0);
  const groups = [...new Set(shortcuts.map(({ group }) => group))].sort((a, b) => rank(a) - rank(b));
  return (
    <Dialog title="Keyboard shortcuts" isWide onClose={onClose}>
      <div class="dialog-body">
        {groups.map((group) => (
          <section key={group} class="keys-group">
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
            onChange={(event) => {
              letterKeys.value = event.currentTarget.checked;
            }}
          />
          Single letters work as shortcuts
        </label>
      </div>
    </Dialog>
  );
}

const KeyRow = ({ keys, label }: Pick<Action, "keys" | "label">) => (
  <div class="key-row">
    <dt>
      {keys.map((one, index) => (
        <>
          {index > 0 && " or "}
          <kbd key={one}>{formatKeys(one)}</kbd>
        </>
      ))}
    </dt>
    <dd>{label}</dd>
  </div>
);
