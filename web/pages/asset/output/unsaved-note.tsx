import { Icon } from "../../../ui/icon";

/** Says what happens to edits that are not saved yet. */
export const UnsavedNote = () => (
  <p class="message">
    <Icon name="info" />
    Your edits are saved as a new cut first.
  </p>
);
