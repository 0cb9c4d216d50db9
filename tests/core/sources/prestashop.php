// What the documented module uses of PrestaShop and curl. Each call is written as a line: its headers and its body.
namespace Shop;

const CURLOPT_POST = 1, CURLOPT_POSTFIELDS = 2, CURLOPT_RETURNTRANSFER = 3, CURLOPT_TIMEOUT = 4, CURLOPT_HTTPHEADER = 5;

function time() { return (int) $GLOBALS['argv'][1]; }
function curl_init($url) { return $url; }
function curl_setopt_array($curl, $options) { echo json_encode([$options[5], $options[2]]), "\n"; }
function curl_exec($curl) { }

class Module
{
    public $context, $name, $version, $author, $displayName, $description;

    public function __construct()
    {
        $this->context = (object) ['shop' => (object) ['name' => 'Atelier']];
    }
}

class Customer { public $email = 'luc@example.com', $firstname = 'Luc', $lastname = 'Petit'; }
class Address { public $phone_mobile = '', $phone = '06 12 34 56 78', $id_country = 8; }
class Currency { public $iso_code = 'EUR'; }
class Language { public $iso_code = 'fr'; }
class State { public $id = '5', $name = 'Livré', $paid = '1', $shipped = '1'; }
class Country { static function getIsoById($id) { return 'FR'; } }

class Configuration
{
    static function get($name) { return ['PS_OS_DELIVERED' => '5', 'PS_OS_SHIPPING' => '4'][$name] ?? '9'; }
}

class Order
{
    public $id = 31, $reference = 'XKB', $total_paid = '61.800000', $payment = 'Bank wire';
    public $id_customer = 1, $id_address_delivery = 1, $id_currency = 1, $id_lang = 1;

    public function getProducts() { return [['product_quantity' => '2'], ['product_quantity' => '1']]; }
}
