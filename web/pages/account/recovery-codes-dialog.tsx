import { ShownOnceDialog } from "../../ui/shown-once-dialog";
import { RecoveryCodes } from "./recovery-codes";

type RecoveryCodesDialogProps = { codes: string[]; email: string; onClose(): void };

/** Shows new recovery codes once. */
export const RecoveryCodesDialog = ({ codes, email, onClose }: RecoveryCodesDialogProps) => (
  <ShownOnceDialog title="Save your recovery codes" closeLabel="I have saved them" onClose={onClose}>
    <RecoveryCodes codes={codes} email={email} />
  </ShownOnceDialog>
);
