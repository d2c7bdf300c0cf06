/** A placeholder while the editor is loading. */
export const AssetSkeleton = () => (
  <div class="studio" role="status" aria-label="Loading">
    <div class="studio-main">
      <div class="skeleton studio-video" />
      <div class="skeleton skeleton-row" />
    </div>
    <div class="skeleton studio-skeleton-side" />
  </div>
);
