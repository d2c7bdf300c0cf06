/** A placeholder of the same layout while the editor is loading. */
export const AssetSkeleton = () => (
  <div class="workspace is-loading" role="status" aria-label="Loading">
    <div class="work-bar" />
    <div class="stage">
      <div class="headline" />
      <div class="view">
        <div class="picture skeleton" />
      </div>
    </div>
    <div class="transport" />
    <div class="side" />
    <div class="timeline-panel" />
  </div>
);
