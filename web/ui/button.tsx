import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "icon" | "size"> & {
  icon?: IconName;
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
      class={`button ${look}`}
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
    <button type="button" {...rest} class={`button icon-only ${look}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
