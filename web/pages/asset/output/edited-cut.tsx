/** The cut from which files are created. Files are created from stored cuts, so unsaved edits first become a new cut. */
import { ApiError } from "../../../app/api";
import { Icon } from "../../../ui/icon";

/** Explains what happens to unsaved edits. */
export const UnsavedNote = () => (
  <p class="message">
    <Icon name="info" />
    Your edits are saved as a new cut first.
  </p>
);

export type EditedCut = {
  /** The open cut; null if there is none or it is not completed. */
  cutId: string | null;
  isEdited: boolean;
  /** Saves the edits as a cut, opens it and returns its ID; null if that failed. */
  save(): Promise<string | null>;
};

/** Returns the ID of a cut that contains all edits. Throws `ApiError`. */
export async function requireSaved({ cutId, isEdited, save }: EditedCut): Promise<string> {
  const saved = isEdited ? await save() : cutId;
  if (saved === null) throw new ApiError("The edits could not be saved, so no file was created.", "unsaved", 0);
  return saved;
}
