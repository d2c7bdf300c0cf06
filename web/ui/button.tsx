import type { ComponentChildren, JSX } from "preact";
import { findAction, isEnabled, labelWithKey, performAction } from "../app/actions";
import { Icon, type IconName } from "./icon";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "icon" | "size"> & {
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

type ActionButtonProps = Omit<ButtonProps, "icon" | "name"> & {
  name: string;
  detail?: string | null;
  /** Whether the label is beside the icon. */
  isLabeled?: boolean;
};

/** The button of a registered action. `detail` follows the label in the tooltip. */
export function ActionButton({ name, detail = null, isLabeled = false, ...rest }: ActionButtonProps) {
  const action = findAction(name);
  if (action?.icon === undefined) return null;
  const text = detail === null ? action.label : `${action.label}: ${detail}`;
  const shared = {
    ...rest,
    icon: action.icon,
    title: labelWithKey(text, action.keys),
    disabled: !isEnabled(action),
    onClick: () => performAction(name),
  };
  return isLabeled ? <Button {...shared}>{action.label}</Button> : <IconButton {...shared} label={action.label} />;
}
