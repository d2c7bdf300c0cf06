import type { ComponentChildren, JSX } from "preact";
import { findAction, isEnabled, labelWithKey, performAction } from "../app/actions";
import { Icon, type IconName } from "./icon";

export type ButtonProps = Omit<JSX.IntrinsicElements["button"], "icon" | "size"> & {
  icon?: IconName | undefined;
  look?: "default" | "primary" | "danger" | "quiet";
  /** Shows a button that is working and cannot be pressed again. */
  isBusy?: boolean;
  children?: ComponentChildren;
};

export function Button({ icon, look = "default", isBusy = false, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || isBusy}
      class={["button", look, rest.class].filter(Boolean).join(" ")}
      aria-busy={isBusy}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows only an icon. `label` is its name and its tooltip. */
export function IconButton({ icon, label, look = "quiet", ...rest }: ButtonProps & { icon: IconName; label: string }) {
  return (
    <button
      type="button"
      {...rest}
      class={["button icon-only", look, rest.class].filter(Boolean).join(" ")}
      aria-label={label}
      title={rest.title ?? label}
    >
      <Icon name={icon} />
    </button>
  );
}

type ActionButtonProps = Omit<ButtonProps, "name" | "onClick"> & {
  name: string;
  /** Shown after the label in the tooltip. */
  detail?: string | null;
  /** Whether the text is shown although the action has an icon. Children replace the text. */
  isLabeled?: boolean;
  /** Shown after the text. */
  after?: ComponentChildren;
  /** Called after the action. */
  onDone?(): void;
};

/** The button of a registered action. Shows nothing until a component has added the action. */
export function ActionButton({
  name,
  detail = null,
  isLabeled = false,
  after,
  onDone,
  children,
  ...rest
}: ActionButtonProps) {
  const action = findAction(name);
  if (action === undefined) return null;
  const { label, keys } = action;
  const text = action.describe?.() ?? label;
  const shared = {
    icon: action.icon,
    ...rest,
    title: rest.title ?? labelWithKey(detail === null ? text : `${text}: ${detail}`, keys),
    disabled: rest.disabled === true || !isEnabled(action),
    onClick: () => {
      performAction(name);
      onDone?.();
    },
  };
  const { icon } = shared;
  if (icon !== undefined && !isLabeled && children === undefined)
    return <IconButton {...shared} icon={icon} label={text} />;
  return (
    <Button {...shared}>
      {children ?? text}
      {after}
    </Button>
  );
}
