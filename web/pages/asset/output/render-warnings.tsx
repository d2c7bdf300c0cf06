import { Icon } from "../../../ui/icon";

/** Warns about unexpected properties of the file. */
export const RenderWarnings = ({ warnings }: { warnings: string[] }) =>
  warnings.length === 0 ? null : (
    <ul class="render-warnings">
      {warnings.map((warning) => (
        <li key={warning}>
          <Icon name="warning" />
          <span>{warning}</span>
        </li>
      ))}
    </ul>
  );
