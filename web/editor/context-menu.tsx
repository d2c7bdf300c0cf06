/** The context menu of the transcript, the timeline and the takes. Its items are actions of the registry. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { listActionItems, type MenuItem, MenuItems } from "../ui/menu";

/** Names of actions, in groups with a line between them. */
export type MenuGroups = readonly (readonly string[])[];

type Opened = { x: number; y: number; label: string; items: MenuItem[]; focused: Element | null };
const opened = signal<Opened | null>(null);

/** Whether the menu was requested with a key. */
export const isByKeyboard = (event: MouseEvent): boolean => event.button !== 2 && !event.ctrlKey;

/** Returns whether a long press requested the menu. It selects text on phones. */
export const isLongPress = (event: MouseEvent): boolean =>
  event instanceof PointerEvent && event.pointerType === "touch";

/** Opens the actions that are possible now at a point of the window. */
export function openContextMenu({ x, y }: { x: number; y: number }, label: string, groups: MenuGroups): void {
  const items = groups.flatMap((names) =>
    listActionItems(names).map(({ icon: _, ...item }, index): MenuItem => ({ ...item, hasRule: index === 0 })),
  );
  if (items[0] === undefined) return;
  items[0].hasRule = false;
  opened.value = { x, y, label, items, focused: document.activeElement };
}

/** Space between the menu and the edges of the window. */
const MARGIN = 8;

export function ContextMenu() {
  const menu = opened.value;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (menu === null || box.current === null) return;
    const { width, height } = box.current.firstElementChild!.getBoundingClientRect();
    box.current.style.left = `${Math.max(MARGIN, Math.min(menu.x, innerWidth - width - MARGIN))}px`;
    box.current.style.top = `${Math.max(MARGIN, Math.min(menu.y, innerHeight - height - MARGIN))}px`;
  }, [menu]);
  useLayoutEffect(
    () => () => {
      opened.value = null;
    },
    [],
  );
  if (menu === null) return null;
  return (
    <div class="context-menu" ref={box} key={`${menu.x} ${menu.y}`}>
      <MenuItems
        label={menu.label}
        items={menu.items}
        class="left"
        onClose={(returnsFocus) => {
          opened.value = null;
          if (returnsFocus && menu.focused instanceof HTMLElement) menu.focused.focus({ preventScroll: true });
        }}
      />
    </div>
  );
}
