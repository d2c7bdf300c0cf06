/** People as their initials. */
import type { ComponentChildren } from "preact";
import { me } from "../app/session";
import { Icon } from "./icon";

/** Returns "AO" for "Amara Okoye", or for an address the first letter. */
const toInitials = (name: string): string =>
  name
    .split(/\s+/)
    .map((part) => [...part][0] ?? "")
    .slice(0, 2)
    .join("")
    .toUpperCase();

type Person = { id: string; name: string | null };

/** Returns the name of a person; the address of the user without one. */
export const namePerson = ({ id, name }: Person): string =>
  name ?? (me.value?.id === id ? me.value.email : "A member without a name");

const Initials = ({ person }: { person: Person }) =>
  person.name === null && me.value?.id !== person.id ? <Icon name="user" /> : toInitials(namePerson(person));

/** The initials of a person, beside text that contains the name. */
export const AvatarMark = ({ person }: { person: Person }) => (
  <span class="avatar" aria-hidden="true">
    <Initials person={person} />
  </span>
);

/** The initials of a person, with the name as the tooltip. */
export function Avatar({ person, label = "" }: { person: Person; label?: string }) {
  const text = `${label}${namePerson(person)}`;
  return (
    <span class="avatar" role="img" aria-label={text} title={text}>
      <Initials person={person} />
    </span>
  );
}

/** The initials of a person beside `children`, which name the person. Default: the name on one line. */
export const PersonCell = ({ person, children }: { person: Person; children?: ComponentChildren }) => (
  <span class="person">
    <AvatarMark person={person} />
    {children || (
      <span class="truncate" title={namePerson(person)} dir="auto">
        {namePerson(person)}
      </span>
    )}
  </span>
);
