//! Menus without structured data, as site builders and hands write them.

use crate::check;

#[test]
fn cards_of_a_site_builder() {
    check(
        "<title>Menu — Nonna's Kitchen</title><nav>Menu</nav><main><div class='menu-section'>
         <div class='menu-section-header'><div class='menu-section-title'>Small Plates</div><div class='menu-section-description'>Made to share</div></div>
         <div class='menu-items'>
         <div class='menu-item'><div class='menu-item-title'>Burrata</div><div class='menu-item-description'>Heirloom tomato, basil oil.</div>
           <div class='menu-item-price-bottom'><span>$</span>14</div></div>
         <div class='menu-item'><div class='menu-item-title'>Arancini</div><div class='menu-item-description'>Saffron, peas.</div>
           <div class='menu-item-price-bottom'><span>$</span>11</div></div></div></div>
         <div class='menu-section'><div class='menu-section-header'><div class='menu-section-title'>Pasta</div></div>
         <div class='menu-items'><div class='menu-item'><div class='menu-item-title'>Cacio e Pepe</div>
           <div class='menu-item-price-bottom'><span>$</span>18</div></div></div></div></main>",
        "Nonna's Kitchen
         # Small Plates | Made to share
         Burrata | 14 | Heirloom tomato, basil oil.
         Arancini | 11 | Saffron, peas.
         # Pasta
         Cacio e Pepe | 18",
    );
}

#[test]
fn headings_and_paragraphs_without_elements_around_items() {
    check(
        "<title>The Fox Inn | Menu</title><h1>Menu</h1><h2>Mains</h2>
         <h4>Fish and Chips</h4><p>Beer battered haddock</p><p>£15.50</p>
         <h4>Steak Pie</h4><p>Ale gravy, mash</p><p>£16</p>
         <h2>Puddings</h2><h4>Crumble</h4><p>Custard</p><p>£7</p>",
        "The Fox Inn | GBP
         # Mains
         Fish and Chips | 15.5 | Beer battered haddock
         Steak Pie | 16 | Ale gravy, mash
         # Puddings
         Crumble | 7 | Custard",
    );
}

#[test]
fn text_as_of_a_pdf() {
    check(
        "<title>Golden Wok</title><pre>GOLDEN WOK RESTAURANT

STARTERS
Spring Rolls (V)          4.50
Prawn Toast               5.20

MAINS
Sweet &amp; Sour Chicken      9.80
Beef in Black Bean Sauce  10.50

(V) vegetarian. All prices in GBP.
Tel. 020 7946 0958   Mon-Sun 12.00-23.00</pre>",
        "Golden Wok | GBP
         # STARTERS
         Spring Rolls | 4.5 | | vegetarian
         Prawn Toast | 5.2
         # MAINS
         Sweet & Sour Chicken | 9.8
         Beef in Black Bean Sauce | 10.5",
    );
}

#[test]
fn lines_with_breaks_and_bold_headings() {
    check(
        "<title>Speisekarte Gasthof Krone</title><div><p><b>Vorspeisen</b></p><p>Flädlesuppe 4,80 €<br>Salatteller 6,50 €</p>
         <p><b>Hauptgerichte</b></p><p>Zwiebelrostbraten 21,90 €<br>mit Spätzle und Soße<br>Maultaschen 12,50 €<br>geschmälzt, mit Kartoffelsalat</p></div>",
        "Gasthof Krone | EUR
         # Vorspeisen
         Flädlesuppe | 4.8
         Salatteller | 6.5
         # Hauptgerichte
         Zwiebelrostbraten | 21.9 | mit Spätzle und Soße
         Maultaschen | 12.5 | geschmälzt, mit Kartoffelsalat",
    );
}

#[test]
fn hours_delivery_and_vouchers_are_no_items() {
    check(
        "<title>Pizzeria Napoli</title><h1>Pizzeria Napoli</h1><section><h2>Öffnungszeiten</h2><table><tr><td>Mo–Fr</td><td>11.00 – 22.00</td></tr>
         <tr><td>Sa</td><td>17.00 – 23.00</td></tr></table></section>
         <section><h2>Unsere Pizzen</h2><ul><li>Margherita <b>8,50</b></li><li>Salami <b>9,50</b></li><li>Tonno <b>10,00</b></li></ul></section>
         <section><h2>Lieferung</h2><p>Mindestbestellwert 15,00 €</p><p>Gutscheine ab 20,00 €</p></section>",
        "Pizzeria Napoli | EUR
         # Unsere Pizzen
         Margherita | 8.5
         Salami | 9.5
         Tonno | 10",
    );
}

#[test]
fn numbered_dishes() {
    check(
        "<title>Thai Garden – Speisekarte</title><h2>Suppen</h2><ul><li>1. Tom Yum Gung 5,90 €</li><li>2. Tom Kha Gai 5,50 €</li></ul>
         <h2>Curry</h2><ul><li>10. Rotes Curry 11,90 €</li><li>11. Grünes Curry 11,90 €</li></ul>",
        "Thai Garden | EUR
         # Suppen
         Tom Yum Gung | 5.9 | | no 1
         Tom Kha Gai | 5.5 | | no 2
         # Curry
         Rotes Curry | 11.9 | | no 10
         Grünes Curry | 11.9 | | no 11",
    );
}

#[test]
fn sizes_of_a_pizza_in_columns_and_lists() {
    check(
        "<title>Menu - Bella Pizza</title><h2>Pizza</h2><table><tr><th>Pizza</th><th>Small</th><th>Large</th></tr>
         <tr><td>Margherita<br><small>Tomato, mozzarella</small></td><td>$9</td><td>$13</td></tr>
         <tr><td>Pepperoni</td><td>$11</td><td>$15</td></tr></table>
         <h2>Wine</h2><div class=item><h4>Chianti</h4><ul><li>Glass $7</li><li>Bottle $28</li></ul></div>
         <div class=item><h4>Merlot</h4><ul><li>Glass $6</li><li>Bottle $24</li></ul></div>",
        "Bella Pizza
         # Pizza
         Margherita | 9 | Tomato, mozzarella | Size: Small 9 / Large 13
         Pepperoni | 11 | | Size: Small 11 / Large 15
         # Wine
         Chianti | 7 | | Size: Glass 7 / Bottle 28
         Merlot | 6 | | Size: Glass 6 / Bottle 24",
    );
}

#[test]
fn calories_and_marks_of_diets() {
    check(
        "<title>Menu | Leaf Café</title><h2>Bowls</h2>
         <div class=dish><h3>Poke Bowl</h3><p>Salmon, rice. 620 kcal</p><span class=price>£12.50</span></div>
         <div class=dish><h3>Tofu Bowl <abbr title='Vegan'>VE</abbr></h3><p>Rice, edamame</p><p>2092 kJ / 500 kcal</p><span class=price>£11.00</span></div>
         <div class=dish><h3>Falafel Bowl <img src=/ve.svg alt=vegan></h3><p>Hummus, bulgur</p><span class=price>£10.00</span></div>",
        "Leaf Café | GBP
         # Bowls
         Poke Bowl | 12.5 | Salmon, rice. | 620 kcal
         Tofu Bowl | 11 | Rice, edamame | vegan; 500 kcal
         Falafel Bowl | 10 | Hummus, bulgur | vegan",
    );
}

#[test]
fn items_without_a_section_stand_in_the_menu() {
    check(
        "<title>Joe's Diner</title><h1>Joe's Diner</h1><ul><li>Cheeseburger $8.50</li><li>Fries $3.00</li><li>Milkshake $4.50</li></ul>",
        "Joe's Diner
         # Menu
         Cheeseburger | 8.5
         Fries | 3
         Milkshake | 4.5",
    );
    check(
        "<title>Gasthaus Adler</title><h1>Speisekarte</h1><ul><li>Wurstsalat 8,50 €</li><li>Kässpätzle 10,00 €</li></ul>",
        "Gasthaus Adler | EUR\n# Speisekarte\nWurstsalat | 8.5\nKässpätzle | 10",
    );
}

#[test]
fn whole_prices_without_a_currency() {
    check(
        "<title>Menu – Harvest Restaurant</title><h2>To start</h2><div class=m><p class=name>Beetroot, goat's curd</p><p class=price>12</p></div>
         <div class=m><p class=name>Crab on toast</p><p class=price>15</p></div>
         <h2>Mains</h2><div class=m><p class=name>Hake, mussels, cider</p><p class=price>28</p></div>
         <div class=m><p class=name>Lamb shoulder for two</p><p class=price>52</p></div>",
        "Harvest Restaurant
         # To start
         Beetroot, goat's curd | 12
         Crab on toast | 15
         # Mains
         Hake, mussels, cider | 28
         Lamb shoulder for two | 52",
    );
}

#[test]
fn rows_with_descriptions_below() {
    check(
        "<title>Menu - Curry House Restaurant</title><table><tr><td colspan=2><b>Curries</b></td></tr>
         <tr><td>Korma</td><td>9.95</td></tr><tr><td colspan=2><i>Mild, creamy</i></td></tr>
         <tr><td>Madras</td><td>10.50</td></tr><tr><td colspan=2><i>Hot and sour</i></td></tr></table><p>All prices in £</p>",
        "Curry House Restaurant | GBP
         # Curries
         Korma | 9.95 | Mild, creamy
         Madras | 10.5 | Hot and sour",
    );
}

#[test]
fn an_order_page_of_a_restaurant() {
    check(
        "<title>Order online – Sushi Bar Koi</title><h1>Menu</h1><h2>Nigiri</h2>
         <article class=product><h3>Salmon Nigiri</h3><p>2 pieces</p><span>£4.20</span><button>Add to cart</button></article>
         <article class=product><h3>Tuna Nigiri</h3><p>2 pieces</p><span>£4.60</span><button>Add to cart</button></article>
         <h2>Maki</h2><article class=product><h3>Avocado Maki</h3><p>6 pieces</p><span>£5.00</span><p>Sold out</p></article>",
        "Sushi Bar Koi | GBP
         # Nigiri
         Salmon Nigiri | 4.2 | 2 pieces
         Tuna Nigiri | 4.6 | 2 pieces
         # Maki
         Avocado Maki | 5 | 6 pieces | sold out",
    );
}

#[test]
fn set_menus_list_their_courses() {
    check(
        "<title>Restaurant Orangerie – Menüs</title><h1>Unsere Menüs</h1>
         <div class=menue><h3>Menü Klassik</h3><ul><li>Rinderkraftbrühe</li><li>Kalbsrücken</li><li>Crème brûlée</li></ul><p>48,00 €</p></div>
         <div class=menue><h3>Menü Vegetarisch</h3><ul><li>Kürbissuppe</li><li>Pilzrisotto</li><li>Sorbet</li></ul><p>42,00 €</p></div>",
        "Restaurant Orangerie | EUR
         # Unsere Menüs
         Menü Klassik | 48 | Rinderkraftbrühe, Kalbsrücken, Crème brûlée
         Menü Vegetarisch | 42 | Kürbissuppe, Pilzrisotto, Sorbet",
    );
}
