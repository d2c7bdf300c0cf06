/** Placeholders for loading, empty and failed content. */
import type { ComponentChildren } from "preact";
import { isFinal, isNotFound, needsCredits, toMessage } from "../app/api";
import type { Loaded, Resource } from "../app/cache";
import { Button } from "./button";
import { Icon, type IconName } from "./icon";

/** Gray rows in place of a list. They appear immediately, so that nothing moves when the response arrives. */
export const ListSkeleton = ({ rows = 4 }: { rows?: number }) => (
  <div class="skeleton-list" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} class="skeleton skeleton-row" />
    ))}
  </div>
);

type EmptyProps = {
  title: string;
  icon?: IconName;
  /** Whether this is the only content of the page. */
  isPage?: boolean;
  /** Shown as a button. */
  link?: { href: string; label: string };
  children?: ComponentChildren;
};

export const Empty = ({ title, icon, isPage = false, link, children }: EmptyProps) => (
  <div class="empty">
    {icon && <Icon name={icon} />}
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
    {link && (
      <a class="button" href={link.href}>
        {link.label}
      </a>
    )}
  </div>
);

type MessageProps = {
  look?: "good" | "warning" | "bad";
  icon?: IconName;
  role?: "alert" | "status" | "note";
  class?: string;
  children: ComponentChildren;
};

/** A message on a page, with an icon. */
export const Message = ({ look, icon, class: name = "", children, ...rest }: MessageProps) => (
  <div {...rest} class={`message ${look ?? ""} ${name}`}>
    <Icon name={icon ?? (look === undefined ? "info" : look === "good" ? "check" : "warning")} />
    {children}
  </div>
);

type ErrorPanelProps = {
  /** The failure of a call. If it is final, trying again is not offered. */
  error?: unknown;
  /** Replaces the message of the failure. */
  message?: string;
  onRetry?: () => void;
};

export const ErrorPanel = ({ error, message = toMessage(error), onRetry }: ErrorPanelProps) => (
  <Message look="bad" role="alert">
    <p>{message}</p>
    {onRetry && !isFinal(error) && (
      <span class="message-actions">
        <Button onClick={onRetry}>Try again</Button>
      </span>
    )}
  </Message>
);

type ResourceViewProps<T> = {
  resource: Resource<T>;
  skeleton?: ComponentChildren;
  /** Replaces the error of a resource that does not exist. */
  notFound?: ComponentChildren;
  /** Returns the page around the skeleton or the error. */
  frame?(content: ComponentChildren): ComponentChildren;
  children(value: T): ComponentChildren;
};

/** Renders a resource in each of its states. */
export function ResourceView<T>({
  resource,
  skeleton = <ListSkeleton />,
  notFound,
  frame = (content) => content,
  children,
}: ResourceViewProps<T>) {
  const state: Loaded<T> = resource.state.value;
  if (state.kind === "loading") return <>{frame(skeleton)}</>;
  if (state.kind === "ready") return <>{children(state.value)}</>;
  if (notFound !== undefined && isNotFound(state.error)) return <>{notFound}</>;
  return <>{frame(<ErrorPanel {...state} onRetry={() => void resource.reload()} />)}</>;
}

/** The error of a failed call. If credits are missing, it links to them. */
const ErrorText = ({ error }: { error: unknown }) => (
  <p>
    {toMessage(error)}
    {needsCredits(error) && (
      <>
        {" "}
        <CreditsLink />
      </>
    )}
  </p>
);

/** The error of an action, beside its control. Screen readers announce it because the alert exists before. */
export const ErrorMessage = ({ error }: { error: unknown }) => (
  <div role="alert">
    {error !== null && (
      <Message look="bad">
        <ErrorText error={error} />
      </Message>
    )}
  </div>
);

export const CreditsLink = () => <a href="/credits">Open credits</a>;
