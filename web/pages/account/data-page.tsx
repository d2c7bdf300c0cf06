import { me } from "../../app/session";
import { AccountFrame } from "./account-frame";
import { DeletionSection } from "./deletion-section";
import { ExportSection } from "./export-section";

/** The page for exporting the user's data and deleting the account. */
export default function DataPage() {
  const profile = me.value;
  if (profile === null) return null;
  return (
    <AccountFrame title="Your data">
      <ExportSection />
      {profile.deleted_at === null && <DeletionSection profile={profile} />}
    </AccountFrame>
  );
}
