import { dismissToast, holdToast, releaseToast, type Toast, toastPlace, toasts } from "../app/toasts";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";

/** Shows and announces messages. Only one place shows them. */
export const Toasts = ({ place = "corner" }: { place?: "corner" | "pill" }) => (
  <div class={place === "pill" ? "feedback" : "toasts"} role="status" aria-live="polite">
    {toastPlace.value === place && toasts.value.map((toast) => <ToastRow key={toast.id} toast={toast} />)}
  </div>
);

function ToastRow({ toast }: { toast: Toast }) {
  const { id, text, kind, action, link } = toast;
  const hold = () => holdToast(toast);
  const release = () => releaseToast(toast);
  return (
    <div class={`toast ${kind}`} onPointerEnter={hold} onPointerLeave={release} onFocusIn={hold} onFocusOut={release}>
      {kind === "bad" && <Icon name="warning" />}
      <p>{text}</p>
      {action && (
        <Button
          onClick={() => {
            dismissToast(id);
            action.run();
          }}
        >
          {action.label}
          {action.keys && <kbd class="key">{action.keys}</kbd>}
        </Button>
      )}
      {link && (
        <a class="button" href={link.href} onClick={() => dismissToast(id)}>
          {link.label}
        </a>
      )}
      <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(id)} />
    </div>
  );
}
