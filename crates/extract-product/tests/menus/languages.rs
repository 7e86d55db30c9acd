//! Menus in many languages.

use crate::check;

#[test]
fn german_with_allergens_and_drinks() {
    check(
        "<html lang=de><title>Getränkekarte - Wirtshaus Linde</title><h1>Getränke</h1>
         <h2>Alkoholfrei</h2><table>
         <tr><th></th><th>0,2 l</th><th>0,4 l</th></tr>
         <tr><td>Cola<sup>1,3</sup></td><td>2,60 €</td><td>4,20 €</td></tr>
         <tr><td>Apfelschorle</td><td>2,40 €</td><td>3,90 €</td></tr></table>
         <h2>Bier</h2><table><tr><td>Pils (A)</td><td>0,5 l</td><td>4,10 €</td></tr><tr><td>Weizen (A)</td><td>0,5 l</td><td>4,30 €</td></tr></table>
         <p>1 = mit Farbstoff, 3 = koffeinhaltig, A = Gluten</p>",
        "Wirtshaus Linde | EUR
         # Alkoholfrei
         Cola | 2.6 | | Size: 0,2 l 2.6 / 0,4 l 4.2
         Apfelschorle | 2.4 | | Size: 0,2 l 2.4 / 0,4 l 3.9
         # Bier
         Pils | 4.1 | 0,5 l
         Weizen | 4.3 | 0,5 l",
    );
}

#[test]
fn german_lunch_by_weekday() {
    check(
        "<html lang=de><title>Mittagskarte | Metzgerei Kohl</title><h1>Mittagskarte KW 12</h1>
         <h3>Montag</h3><ul><li>Linsensuppe mit Würstchen 6,50 €</li><li>Gemüselasagne (vegetarisch) 7,90 €</li></ul>
         <h3>Dienstag</h3><ul><li>Schweinebraten mit Knödel 8,90 €</li></ul>
         <h3>Öffnungszeiten</h3><p>Mo–Fr 11.00–14.30 Uhr</p>",
        "Metzgerei Kohl | EUR
         # Montag
         Linsensuppe mit Würstchen | 6.5
         Gemüselasagne | 7.9 | | vegetarian
         # Dienstag
         Schweinebraten mit Knödel | 8.9",
    );
}

#[test]
fn french_set_menus() {
    check(
        "<html lang=fr><title>La carte – Bistrot du Port</title><h1>Bistrot du Port</h1>
         <h2>Entrées</h2><div class=plat><span class=nom>Soupe à l'oignon</span> <span class=prix>7€50</span></div>
         <div class=plat><span class=nom>Terrine de campagne</span> <span class=prix>8€</span></div>
         <h2>Formules</h2><div class=plat><span class=nom>Entrée + plat</span> <span class=prix>19€</span></div>
         <div class=plat><span class=nom>Entrée + plat + dessert</span> <span class=prix>24€</span></div>
         <p>Prix nets en euros, service compris.</p>",
        "Bistrot du Port | EUR
         # Entrées
         Soupe à l'oignon | 7.5
         Terrine de campagne | 8
         # Formules
         Entrée + plat | 19
         Entrée + plat + dessert | 24",
    );
}

#[test]
fn italian_names_and_ingredients() {
    check(
        "<html lang=it><title>Menù | Trattoria da Gino</title><main><h2>Antipasti</h2>
         <p><strong>Bruschetta</strong> – pomodoro, basilico <span>€ 5,00</span></p>
         <p><strong>Tagliere misto</strong> – salumi e formaggi <span>€ 12,00</span></p>
         <h2>Primi</h2>
         <p><strong>Spaghetti alle vongole</strong> <span>€ 14,00</span></p>
         <p>Coperto € 2,00</p></main>",
        "Trattoria da Gino | EUR
         # Antipasti
         Bruschetta | 5 | pomodoro, basilico
         Tagliere misto | 12 | salumi e formaggi
         # Primi
         Spaghetti alle vongole | 14",
    );
}

#[test]
fn spanish_portions() {
    check(
        "<html lang=es><title>Nuestra carta - Taberna El Pulpo</title><h1>Nuestra carta</h1><h2>Raciones</h2>
         <ul><li>Croquetas caseras: media ración 6 € / ración 11 €</li><li>Pulpo a la gallega: ración 18 €</li>
         <li>Patatas bravas ......... 5,50 €</li></ul><p>IVA incluido</p>",
        "Taberna El Pulpo | EUR
         # Raciones
         Croquetas caseras | 6 | | Size: media ración 6 / ración 11
         Pulpo a la gallega | 18 | ración
         Patatas bravas | 5.5",
    );
}

#[test]
fn japanese() {
    check(
        "<html lang=ja><title>お品書き | 居酒屋さくら</title><h1>お品書き</h1><h2>焼鳥</h2>
         <dl><dt>ねぎま</dt><dd>180円</dd><dt>つくね（卵付き）</dt><dd>220円</dd></dl>
         <h2>お飲み物</h2><dl><dt>生ビール</dt><dd>550円（税込）</dd><dt>ハイボール</dt><dd>450円（税込）</dd></dl>",
        "居酒屋さくら | JPY
         # 焼鳥
         ねぎま | 180
         つくね（卵付き） | 220
         # お飲み物
         生ビール | 550
         ハイボール | 450",
    );
}

#[test]
fn swedish_lunch_in_kronor() {
    check(
        "<html lang=sv><title>Lunchmeny – Krogen Ankaret</title><h1>Lunchmeny</h1><h2>Måndag</h2>
         <div class=row><div class=dish>Köttbullar med potatis</div><div class=price>125 kr</div></div>
         <div class=row><div class=dish>Stekt torsk</div><div class=price>135 kr</div></div>",
        "Krogen Ankaret
         # Måndag
         Köttbullar med potatis | 125
         Stekt torsk | 135",
    );
}

#[test]
fn polish_czech_and_korean_currencies() {
    check(
        "<title>Menu – Restauracja Pod Lipą</title><h2>Zupy</h2><ul><li>Żurek 18 zł</li><li>Rosół 15,50 zł</li></ul>",
        "Restauracja Pod Lipą | PLN\n# Zupy\nŻurek | 18\nRosół | 15.5",
    );
    check(
        "<title>한식당 메뉴 | 고향집</title><h2>식사</h2><ul><li>김치찌개 9,000원</li><li>비빔밥 10,000원</li></ul>",
        "고향집 | KRW\n# 식사\n김치찌개 | 9000\n비빔밥 | 10000",
    );
}
