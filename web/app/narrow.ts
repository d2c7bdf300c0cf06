/** The windows in which `@media (--narrow)` of style sheets applies. */
export const narrow = matchMedia("(max-width: 43.74rem)");
/** The windows in which `@media (--compact)` of style sheets applies. */
export const compact = matchMedia("(max-width: 68.74rem)");
/** Devices that are operated with fingers. Most have no keyboard. */
export const touch = matchMedia("(pointer: coarse)");
