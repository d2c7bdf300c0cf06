/** People as their initials. */
import { me } from "../app/session";
import { Icon } from "./icon";

/** Returns "AO" for "Amara Okoye", or for an address the first letter. */
export const toInitials = (name: string): string =>
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

/** The initials of a person, with the name as the tooltip. */
export function Avatar({ person, label = "" }: { person: Person; label?: string }) {
  const name = namePerson(person);
  const text = `${label}${name}`;
  return (
    <span class="avatar" role="img" aria-label={text} title={text}>
      {person.name === null && me.value?.id !== person.id ? <Icon name="user" /> : toInitials(name)}
    </span>
  );
}
