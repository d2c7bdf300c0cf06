/** What a page shows while it has nothing else to show: loading, empty, failed. */
import type { ComponentChildren } from "preact";
import type { Loaded, Resource } from "../app/resource";
import { Button } from "./button";
import { Icon, type IconName } from "./icon";

/** Gray rows in the place of a list. They appear at once, so that nothing moves when the answer comes. */
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
  /** Whether it is all that the page shows. */
  isPage?: boolean;
  children?: ComponentChildren;
};

export const Empty = ({ title, icon, isPage = false, children }: EmptyProps) => (
  <div class="empty">
    {icon && <Icon name={icon} />}
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
);

export const ErrorPanel = ({ message, onRetry }: { message: string; onRetry?: () => void }) => (
  <div class="message bad" role="alert">
    <Icon name="warning" />
    <p>{message}</p>
    {onRetry && (
      <span class="message-actions">
        <Button onClick={onRetry}>Try again</Button>
      </span>
    )}
  </div>
);

type ResourceViewProps<T> = {
  resource: Resource<T>;
  skeleton?: ComponentChildren;
  children(value: T): ComponentChildren;
};

/** Shows a resource in each of its states. */
export function ResourceView<T>({ resource, skeleton = <ListSkeleton />, children }: ResourceViewProps<T>) {
  const state: Loaded<T> = resource.state.value;
  if (state.kind === "loading") return <>{skeleton}</>;
  if (state.kind === "failed") return <ErrorPanel message={state.message} onRetry={() => void resource.reload()} />;
  return <>{children(state.value)}</>;
}
