/** Spanish. */
import { createEmptyLexicon, type Lexicon, toWordSet } from "./lexicon";

const words = (list: string) => toWordSet("es", list);

export const SPANISH: Lexicon = {
  ...createEmptyLexicon("es"),
  fillers: /^(?:e+h+m*|e+m+|a+h+m*|h+m+|m{2,})$/,
  ambiguousFillers: /^(?:e+h+|a+h+|em|mm|hm)$/,
  answers: /^(?:a+h+|h+m+|m{2,})$/,
  articles: words("el la los las un una unos unas al del"),
  possessives: words("mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras"),
  pronouns: words(
    "yo tú él ella nosotros vosotros ellos ellas usted ustedes me te se nos os lo le les esto esta este ese esa eso",
  ),
  conjunctions: words("y e o u pero sino que si porque aunque cuando mientras como pues"),
  prepositions: words("a ante bajo con contra de desde en entre hacia hasta para por según sin sobre tras"),
  auxiliaries: words(
    "soy eres es somos sois son era eran fue fueron estoy estás está estamos están estaba estaban he has ha hemos han había habían hay voy vas va vamos van puedo puedes puede podemos pueden debo debe debemos deben quiero quiere tengo tiene tenemos tienen",
  ),
  adverbs: words("no ya así aquí muy también"),
  questionWords: words("qué cómo dónde cuándo quién quiénes cuál cuáles cuánto cuántos"),
  // "no, no", "ya, ya", "muy muy" are emphatic; "la la" and "se se" do not occur, but "que que" does ("más que que").
  doubledWords: words("no ya muy que así"),
  letterWords: words("a e o u y"),
  numberWords: words(
    "cero uno un una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil millón millones",
  ),
  completePhrases:
    /^(?:gracias|muchas gracias|si|no|claro|vale|bueno|ya|ya veo|lo se|de acuerdo|muy bien|hola|bienvenidos?|bienvenidas?|buen(?:os|as) (?:dias|tardes|noches))$/,
  remarkCues:
    /\b(?:perdon|perdona|perdone|disculpa|disculpe|disculpen|lo siento|otra vez|de nuevo|repito|repetimos|un momento|un segundo|espera|espere|empiezo|empezamos|desde el principio|me equivoque|me he equivocado|quiero decir|mierda|joder|ay no|vale|toma dos)\b/,
};
