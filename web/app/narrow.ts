/** The windows in which `@media (--narrow)` of style sheets applies. */
export const narrow = matchMedia("(max-width: 43.74rem)");
