/** The windows in which `@media (--narrow)` of style sheets applies. */
export const narrow = matchMedia("(max-width: 43.74rem)");
/** Devices that are operated with fingers. Most have no keyboard. */
export const touch = matchMedia("(pointer: coarse)");
