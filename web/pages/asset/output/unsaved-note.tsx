import { Icon } from "../../../ui/icon";

/** Explains what happens to unsaved edits. */
export const UnsavedNote = () => (
  <p class="message">
    <Icon name="info" />
    Your edits are saved as a new cut first.
  </p>
);
