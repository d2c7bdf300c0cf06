/** People as their initials. */
import { me, toInitials } from "../app/session";
import { Icon } from "./icon";

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
