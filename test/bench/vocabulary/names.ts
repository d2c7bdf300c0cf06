/**
 * Unusual names for the benchmark of vocabularies: a list for each recording. The lists at odd positions are held back
 * while rules are tuned.
 */
export const NAME_LISTS: readonly (readonly string[])[] = [
  "Przybylski, Kowalczyk, Wojtkowiak, Grabowska, Zielinski, Szymborska, Jablonski, Mazurek, Krawczyk, Pawlowski, Dombrowska, Lewandowski, Gorecki, Lutoslawski, Tokarczuk, Kaczmarek, Wisniewska, Sikorski, Majewski, Olszewski",
  "Kubernetes, Grafana, Prometheus, Terraform, Ansible, Kibana, Hadoop, Cassandra, Zookeeper, Memcached, Redis, Nginx, Jenkins, Gradle, Maven, Webpack, Pytorch, Jupyter, Elasticsearch, Kafka",
  "Kiryandongo, Ouagadougou, Antananarivo, Bujumbura, Lilongwe, Nouakchott, Mogadishu, Gaborone, Windhoek, Libreville, Bangui, Lubumbashi, Kinshasa, Zanzibar, Kampala, Djibouti, Asmara, Maseru, Mbabane, Lusaka",
  "Takahashi, Watanabe, Kobayashi, Yoshikawa, Matsumoto, Nishimura, Hasegawa, Fujiwara, Murakami, Shimizu, Okonogi, Kurosawa, Miyazaki, Takemitsu, Hokusai, Ishiguro, Kawabata, Mishima, Tanizaki, Akutagawa",
  "Adalimumab, Pembrolizumab, Metformin, Atorvastatin, Omeprazole, Lisinopril, Amlodipine, Levothyroxine, Gabapentin, Sertraline, Escitalopram, Rivaroxaban, Clopidogrel, Furosemide, Tamsulosin, Prednisone, Doxycycline, Azithromycin, Ibuprofen, Paracetamol",
  "Bjornsson, Sigurdardottir, Gudmundsson, Halldorsson, Thorvaldsen, Kristiansen, Haugland, Lindqvist, Bergstrom, Soderberg, Ostergaard, Kierkegaard, Nygaard, Vestergaard, Jorgensen, Halvorsen, Torvalds, Sandqvist, Ekstrom, Wallenberg",
  "Offcut, Lumetri, Resolvia, Audacity, Cinelerra, Kdenlive, Shotcut, Losslesscut, Handbrake, Mediabunny, Descriptly, Castopod, Riverside, Hindenburg, Reaper, Ardour, Olive, Blender, Inkscape, Krita",
  "Okonkwo, Adichie, Nwachukwu, Chukwuemeka, Oluwaseun, Adebayo, Ogunbanjo, Babangida, Obasanjo, Achebe, Soyinka, Ekwensi, Emecheta, Okorafor, Iweala, Nnamdi, Ifeoma, Chiamaka, Olamide, Temitope",
  "Schwarzenegger, Hofmannsthal, Bachmann, Jelinek, Bernhard, Schnitzler, Wittgenstein, Feuerbach, Schleiermacher, Heidegger, Hoelderlin, Eichendorff, Droste, Fontane, Grillparzer, Nestroy, Raimund, Lenau, Rosegger, Ebner",
  "Tchaikovsky, Rachmaninoff, Shostakovich, Prokofiev, Stravinsky, Mussorgsky, Borodin, Glazunov, Scriabin, Balakirev, Dargomyzhsky, Kabalevsky, Khachaturian, Gubaidulina, Schnittke, Denisov, Ustvolskaya, Weinberg, Myaskovsky, Medtner",
  "Popocatepetl, Tenochtitlan, Quetzalcoatl, Chichicastenango, Huitzilopochtli, Oaxaca, Guanajuato, Cuernavaca, Xochimilco, Tlaxcala, Michoacan, Zacatecas, Aguascalientes, Queretaro, Coatzacoalcos, Mazatlan, Chihuahua, Tijuana, Hermosillo, Campeche",
  "Papadopoulos, Kazantzakis, Theodorakis, Xenakis, Seferis, Cavafy, Elytis, Ritsos, Angelopoulos, Gavras, Vangelis, Hadjidakis, Giannopoulos, Antetokounmpo, Stefanopoulos, Karamanlis, Venizelos, Kolokotronis, Makriyannis, Korais",
  "Bhattacharya, Chattopadhyay, Mukherjee, Banerjee, Venkataraman, Krishnamurthy, Subramanian, Ramanujan, Chandrasekhar, Raghunathan, Gopalakrishnan, Narayanan, Viswanathan, Jayaraman, Sundaram, Srinivasan, Padmanabhan, Ranganathan, Balasubramanian, Swaminathan",
  "Llanfair, Aberystwyth, Pontypridd, Caernarfon, Machynlleth, Dolgellau, Rhyl, Llandudno, Betws, Merthyr, Tonypandy, Ystrad, Cwmbran, Abergavenny, Blaenau, Porthmadog, Pwllheli, Harlech, Conwy, Llangollen",
  "Zhivago, Oblonsky, Karenina, Raskolnikov, Svidrigailov, Marmeladov, Razumikhin, Stavrogin, Verkhovensky, Karamazov, Smerdyakov, Grushenka, Bezukhov, Bolkonsky, Kuragin, Dolokhov, Drubetskoy, Rostova, Oblomov, Bazarov",
  "Dvorak, Janacek, Smetana, Martinu, Kundera, Hrabal, Capek, Hasek, Seifert, Nezval, Skvorecky, Lustig, Klima, Vaculik, Topol, Vancura, Holub, Orten, Halas, Blatny",
  "Etxeberria, Goikoetxea, Arrizabalaga, Zubizarreta, Aguirretxe, Olazabal, Urdangarin, Ibarretxe, Azpilicueta, Garaikoetxea, Mendizabal, Arteta, Odriozola, Larrazabal, Iturraspe, Oyarzabal, Merino, Zubimendi, Barrenetxea, Illarramendi",
  "Hämäläinen, Virtanen, Korhonen, Nieminen, Mäkinen, Koskinen, Heikkinen, Järvinen, Lehtonen, Saarinen, Aalto, Sibelius, Rautavaara, Saariaho, Salonen, Räikkönen, Häkkinen, Kaurismäki, Jansson, Lindgren",
  "Acetaldehyde, Acetylcholine, Mitochondria, Ribosome, Endoplasmic, Golgi, Chloroplast, Thylakoid, Nucleosome, Telomerase, Polymerase, Topoisomerase, Helicase, Ligase, Kinesin, Dynein, Actin, Myosin, Tubulin, Spectrin",
  "Nguyen, Huynh, Phuong, Quynh, Thuong, Nghiem, Trieu, Dao, Vuong, Luong, Duong, Truong, Khanh, Hoang, Thanh, Binh, Minh, Xuan, Tuyet, Bich",
].map((list) => list.split(", "));

/** Sentences with a place for a name. */
export const CARRIERS: readonly string[] = [
  "I spoke with {} about the plan for the next week.",
  "Yesterday {} sent us a long letter with many questions.",
  "Nobody in the room had heard of {} before the meeting.",
  "The second chapter explains why {} matters to the whole team.",
  "Please ask {} whether the numbers are right.",
  "We went from the station to {} on a cold morning.",
  "{} was the first thing that everybody remembered.",
  "There is a small book by the window, and {} is on the cover.",
  "When people talk about {}, they often get the story wrong.",
  "My neighbor gave a talk on {} in the town hall.",
  "The answer came from {} after only two days.",
  "It took me a year to learn how to spell {}.",
  "Without {} we would never have finished the work.",
  "She wrote {} on the board and turned around.",
  "Later in this video we look at {} in more detail.",
  "Some of you have asked me to compare {} with the others.",
  "The old map shows {} close to the river.",
  "Let me tell you what {} taught me about patience.",
  "The price of {} went up again in the spring.",
  "Thanks to {} for the help with the recording.",
];

/** Names for recordings that were never used to tune rules: other names, other sentences, other voices. */
export const OTHER_LISTS: readonly (readonly string[])[] = [
  "Zhelyazkova, Dimitrova, Borisov, Stoyanov, Vassilev, Radichkov, Yovkov, Vazov, Botev, Karavelov, Pencheva, Georgieva, Plovdiv, Burgas, Pleven, Blagoevgrad, Shumen, Vidin, Kyustendil, Veliko",
  "Fitzgibbon, O'Shaughnessy, McGillicuddy, Drogheda, Ballymena, Clonmacnoise, Siobhan, Niamh, Caoimhe, Eoghan, Oisin, Aoife, Saoirse, Tadhg, Grainne, Dunlaoghaire, Muldoon, Heaney, Flaherty, Geraghty",
  "Cloudflare, Vercel, Supabase, Datadog, Sentry, Snowflake, Databricks, Airtable, Figma, Miro, Asana, Trello, Zendesk, Twilio, Okta, Hashicorp, Mulesoft, Palantir, Nvidia, Qualcomm",
  "Nakhchivan, Tashkent, Samarkand, Bukhara, Dushanbe, Bishkek, Almaty, Karaganda, Ashgabat, Turkmenbashi, Ulaanbaatar, Vladivostok, Irkutsk, Novosibirsk, Yekaterinburg, Chelyabinsk, Krasnoyarsk, Omsk, Tyumen, Magadan",
  "Figueiredo, Guimaraes, Magalhaes, Vasconcelos, Albuquerque, Cavalcanti, Bittencourt, Nascimento, Drummond, Lispector, Niemeyer, Portinari, Amado, Ubaldo, Saramago, Pessoa, Camoes, Peixoto, Antunes, Agualusa",
  "Semaglutide, Tirzepatide, Bevacizumab, Trastuzumab, Infliximab, Etanercept, Ustekinumab, Secukinumab, Dupilumab, Apixaban, Dabigatran, Ticagrelor, Rosuvastatin, Ezetimibe, Valsartan, Sacubitril, Empagliflozin, Dapagliflozin, Sitagliptin, Pioglitazone",
  "Abdulrahman, Mahfouz, Darwish, Qabbani, Adonis, Ghitani, Tayeb, Salih, Khoury, Bashir, Marrakesh, Casablanca, Essaouira, Ouarzazate, Tlemcen, Constantine, Sfax, Kairouan, Djerba, Tozeur",
  "Zuckmayer, Grimmelshausen, Lichtenberg, Klopstock, Wieland, Kotzebue, Brentano, Chamisso, Moerike, Hebbel, Raabe, Keller, Meyer, Liliencron, Dehmel, Wedekind, Sternheim, Toller, Feuchtwanger, Seghers",
  "Photosynthesis, Glycolysis, Phosphorylation, Nicotinamide, Adenosine, Guanosine, Cytosine, Thymine, Uracil, Hemoglobin, Myoglobin, Immunoglobulin, Lymphocyte, Macrophage, Neutrophil, Eosinophil, Basophil, Erythrocyte, Thrombocyte, Megakaryocyte",
  "Wickramasinghe, Jayawardena, Bandaranaike, Senanayake, Premadasa, Kumaratunga, Rajapaksa, Sirisena, Dissanayake, Gunawardena, Ondaatje, Selvadurai, Muttiah, Muralitharan, Sangakkara, Ranatunga, Trincomalee, Anuradhapura, Polonnaruwa, Batticaloa",
].map((list) => list.split(", "));

export const OTHER_CARRIERS: readonly string[] = [
  "I met {} at the conference last year and we talked for an hour.",
  "The report that {} wrote is on my desk.",
  "You can find more about {} in the links below.",
  "Has anyone here worked with {} before?",
  "My favorite part of the story is when {} comes back.",
  "We compared {} with three other options.",
  "It was {} who told us about the problem.",
  "In nineteen ninety, {} was still almost unknown.",
  "Next week, {} will join us for a longer conversation.",
  "For me, {} is the most interesting example.",
  "The train to {} leaves at seven in the evening.",
  "I do not think that {} would agree with that.",
  "A friend of mine used {} every day for ten years.",
  "They named the new building after {} because of the history.",
  "Let us start with {} and see where it goes.",
  "What makes {} different from everything else?",
  "He said that {} changed the way he thinks about music.",
  "There are two reasons to look at {} first.",
  "We will come back to {} at the end.",
  "{} has been in the news a lot this month.",
];

export const OTHER_SENTENCES: readonly string[] = [
  "Most of what we tried in the first month did not work at all.",
  "I like to walk to the office, even when it rains, because it clears my head.",
  "The kitchen smelled of coffee and fresh bread when we came down.",
  "If you want to learn something well, try to explain it to a child.",
  "We had to wait for the second bus, since the first one was full.",
  "There was no light in the hall, so we moved slowly along the wall.",
  "Every team that I know has its own way of keeping notes.",
  "Nothing in the letter explained why the price had changed so quickly.",
  "She opened the window and listened to the birds in the garden.",
  "You should always keep a copy of your work in another place.",
];
