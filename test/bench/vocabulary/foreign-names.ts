/**
 * Names for recordings that are measured once and never used to tune rules: of many origins, products, abbreviations,
 * and names of two or three words. `language` is the one in which a voice pronounces them.
 */
export const FOREIGN_LISTS: readonly { language: string; names: readonly string[] }[] = [
  [
    "en-us",
    "Szczepanski, Wroblewska, Chmielewski, Piotrowska, Jaworski, Stepien, Adamczyk, Nowakowska, Zawadzki, Sobczak, Rutkowski, Baranowska, Ziolkowski, Cieslak, Gajewska, Wierzbicki, Bielawski, Swiatek, Trzebiatowska, Gorski",
  ],
  [
    "tr",
    "Yıldırım, Erdoğan, Özdemir, Çelik, Kılıçdaroğlu, Aydın, Karabulut, Demirtaş, Güneş, Şahin, Kocabıyık, Eskişehir, Diyarbakır, Trabzon, Gaziantep, Kahramanmaraş, Çanakkale, Nevşehir, Pamukkale, Bozcaada",
  ],
  [
    "vi",
    "Phạm Nhật Vượng, Vũ Trọng Phụng, Ngô Bảo Châu, Đặng Thái Sơn, Bùi Xuân Phái, Hồ Xuân Hương, Đà Nẵng, Hải Phòng, Cần Thơ, Nha Trang, Vũng Tàu, Quảng Ngãi, Buôn Ma Thuột, Phú Quốc, Hội An, Sapa, Đồng Hới, Biên Hòa, Mỹ Tho, Kon Tum",
  ],
  [
    "en-us",
    "Ruairi, Diarmuid, Fionnuala, Blathnaid, Cillian, Sadhbh, Muireann, Dearbhla, Domhnall, Ciaran, Roisin, Eilis, Padraig, Fiachra, Conchobhar, Enniscorthy, Ballyjamesduff, Inishmore, Letterkenny, Tullamore",
  ],
  [
    "en-us",
    "PostgreSQL, RabbitMQ, OpenTelemetry, CockroachDB, ClickHouse, DaVinci Resolve, After Effects, Logseq, Todoist, Arduino, Zigbee, Synology, Proxmox, Nextcloud, Jellyfin, WireGuard, Tailscale, Wayland, systemd, FFmpeg",
  ],
  [
    "en-us",
    "NVMe, SQLite, HDMI, XLR, BGP, IPv6, LTSC, DMX, OBS Studio, ProRes, AES67, MPEG, VP9, AV1, XDCAM, SMPTE, EBU, JSON, YAML, PCIe",
  ],
  [
    "fr",
    "Jean-Baptiste Lully, Saint-Saëns, Debussy, Poulenc, Berlioz, Couperin, Rameau, Messiaen, Dutilleux, Boulez, Aix-en-Provence, Clermont-Ferrand, Carcassonne, Perpignan, Besançon, Montpellier, Villeurbanne, Quimper, Angoulême, Bourg-en-Bresse",
  ],
  [
    "hu",
    "Szentgyörgyi, Kodály, Bartók, Ligeti, Kurtág, Esterházy, Kertész, Radnóti, Szabó, Krasznahorkai, Nádas, Petőfi, Székesfehérvár, Hódmezővásárhely, Nyíregyháza, Szombathely, Debrecen, Kecskemét, Zalaegerszeg, Balatonfüred",
  ],
  [
    "en-gb",
    "Saakashvili, Shevardnadze, Kvaratskhelia, Gamsakhurdia, Ivanishvili, Zurabishvili, Margvelashvili, Tsereteli, Rustaveli, Chavchavadze, Kutaisi, Batumi, Zugdidi, Mtskheta, Telavi, Abovyan, Mkhitaryan, Petrosyan, Vanadzor, Gyumri",
  ],
  [
    "en-us",
    "Yogyakarta, Surabaya, Banyuwangi, Pekanbaru, Banjarmasin, Balikpapan, Palembang, Makassar, Denpasar, Purwokerto, Pramoedya, Sukarnoputri, Yudhoyono, Wiranto, Widodo, Prabowo, Gajah Mada, Borobudur, Prambanan, Kintamani",
  ],
  [
    "en-gb",
    "Rhododendron, Bougainvillea, Eschscholzia, Ranunculus, Helleborus, Agapanthus, Alstroemeria, Echinacea, Lisianthus, Delphinium, Chalcopyrite, Molybdenite, Sphalerite, Labradorite, Hematite, Feldspar, Tourmaline, Rhodochrosite, Wollastonite, Pyroxene",
  ],
  [
    "nl",
    "van der Hoeven, Oudekerk, Schiphol, Scheveningen, Nieuwenhuis, Leeuwenhoek, Huygens, Dijkstra, Zwolle, Groningen, Hilversum, Enschede, Kuipers, Hoogeboom, Verstappen, de Bruijn, Buitenzorg, Terpstra, Noordwijk, Zuiderzee",
  ],
].map(([language, names]) => ({ language: language!, names: names!.split(", ") }));

export const FOREIGN_CARRIERS: readonly string[] = [
  "The first person I called that morning was {}.",
  "For this episode we sat down with {} for nearly two hours.",
  "Nothing reminds me of summer as much as {} does.",
  "Most people mispronounce {} the first time.",
  "Our next chapter is all about {} and its history.",
  "If you ask {}, the whole thing was a mistake.",
  "They moved from {} to the coast two years ago.",
  "I wrote a short article about {} last week.",
  "Could you spell {} for the subtitles, please?",
  "Everything changed when {} arrived.",
  "The best thing about {} is how little it costs.",
  "We have used {} since the beginning of the project.",
  "The exhibition in {} closes at the end of the month.",
  "According to {}, there is no reason to worry.",
  "Let me show you how {} looks from the inside.",
  "I had never seen {} before that day.",
  "Half of the audience came only for {}.",
  "There are three letters from {} in the archive.",
  "Between {} and the others, the difference is small.",
  "{} deserves a video of its own.",
];

export const FOREIGN_SENTENCES: readonly string[] = [
  "The museum opens at nine, but the garden is open all day.",
  "I usually edit in the evening, when the house is quiet.",
  "Bring a spare battery, because the cold drains them quickly.",
  "The committee met twice and could not agree on a date.",
  "After lunch we walked around the lake and talked about work.",
  "Half of the files were missing, so we started again.",
  "It is easier to fix the light than to fix the picture later.",
  "Her brother plays the piano and sings in a small choir.",
  "Nobody likes to hear their own voice for the first time.",
  "The last train had left, and we took a taxi home.",
];
