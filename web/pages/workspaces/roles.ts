/** The roles of members of a workspace. */
import { isBilled, type Workspace } from "../../app/session";

export type Role = Workspace["role"];

export const ROLES: { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer" },
  { value: "editor", label: "Editor" },
  { value: "owner", label: "Owner" },
];

/** Describes the permissions of a role. */
export const describeRole = (role: Role): string =>
  ({
    viewer: "can view, play and download everything, but cannot change anything",
    editor: `can also upload, cut, render and delete${isBilled.value ? ", using the workspace's credits" : ""}`,
    owner: `can also manage members${isBilled.value ? ", credits" : ""} and the workspace itself`,
  })[role];

/** Returns the name of a role in a sentence, such as "an editor". */
export const withArticle = (role: Role): string => (role === "viewer" ? "a viewer" : `an ${role}`);

export const toRoleName = (role: Role): string => ROLES.find(({ value }) => value === role)?.label ?? role;
